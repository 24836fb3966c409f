"""A study's data for other programs: CSV, Parquet, Every Eval Ever."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.errors import UsageError
from harness.export.every_eval_ever import NOBODY, Publisher, records
from harness.export.rows import csv_bytes, rows_of, with_verification, write_rows
from harness.files import file_name, make_folder, write_atomic
from harness.protocols.tables import tables_of
from harness.results.csv_table import csv_rows, slug
from harness.run.checked import Checked


def export(checked: Checked, kind: str, out: Path, publisher: Publisher = NOBODY) -> list[Path]:
    """Write the data of a study that was replayed and checked, and return the files.

    kind "csv": the finest rows, into a file that ends in .csv; into any other place, a folder, the
    rows and every table. "parquet": the rows into one file. "eee": one record a model below a
    folder. Raises UsageError where the place does not fit, or pyarrow is not there for Parquet.
    """
    return KINDS[kind](checked, out, publisher)


def _csv(checked: Checked, out: Path, _: Publisher) -> list[Path]:
    if out.suffix == ".csv":
        write_rows(checked, out)
        return [out]
    make_folder(out)
    paths = [out / "rows.csv"]
    write_rows(checked, paths[0])
    for table in tables_of(checked.study, checked.results):
        paths.append(out / f"{file_name(table.key or slug(table.title, '-'))}.csv")
        write_atomic(paths[-1], csv_bytes(with_verification(csv_rows(table), checked)))
    return paths


def _parquet(checked: Checked, out: Path, _: Publisher) -> list[Path]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise UsageError(
            "Parquet needs pyarrow, which is not installed: pip install 'harness[parquet]'. "
            "CSV (--format csv) has the same rows."
        ) from error
    header, *rows = rows_of(checked)
    columns = {str(name): [row[place] for row in rows] for place, name in enumerate(header)}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    write_atomic(out, buffer.getvalue())
    return [out]


def _eee(checked: Checked, out: Path, publisher: Publisher) -> list[Path]:
    paths = []
    for place, record in records(checked, publisher):
        paths.append(out / place)
        make_folder(paths[-1].parent)
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomic(paths[-1], f"{text}\n".encode())
    return paths


Writer = Callable[[Checked, Path, Publisher], list[Path]]
KINDS: Mapping[str, Writer] = {"csv": _csv, "parquet": _parquet, "eee": _eee}
