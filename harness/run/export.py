"""A study's data for other programs: CSV, Parquet, Every Eval Ever."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.files import file_name, make_folder, write_atomic
from harness.run.analysis import offline_results, tables_of, write_rows
from harness.run.eee import NOBODY, Publisher, records
from harness.run.protocols import protocol_of
from harness.run.wiring import frozen
from harness.study import Study


def export(study: Study, kind: str, out: Path, publisher: Publisher = NOBODY) -> list[Path]:
    """Replay a study without a network, write its data, and give the files.

    kind "csv": the finest rows, into a file that ends in .csv; into any other place, a folder, the
    rows and every table. "parquet": the rows into one file. "eee": one record a model below a
    folder. Raises UsageError where the place does not fit, or pyarrow is not there for Parquet.
    """
    return KINDS[kind](study, offline_results(study), out, publisher)


def _csv(study: Study, found: Any, out: Path, _: Publisher) -> list[Path]:
    if out.suffix == ".csv":
        write_rows(study, found, out)
        return [out]
    make_folder(out)
    paths = [out / "rows.csv"]
    write_rows(study, found, paths[0])
    for table in tables_of(study, found):
        paths.append(out / f"{file_name(_slug(table.title))}.csv")
        write_atomic(paths[-1], _lines([table.columns, *table.rows]))
    return paths


def _slug(title: str) -> str:
    """Give the part of a table's title that stays from study to study."""
    return title.partition(":")[0].partition(" (")[0].strip().lower().replace(" ", "-")


def _lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _parquet(study: Study, found: Any, out: Path, _: Publisher) -> list[Path]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise UsageError(
            "Parquet needs pyarrow, which is not installed: pip install 'harness[parquet]'. "
            "CSV (--format csv) has the same rows."
        ) from error
    header, *rows = protocol_of(study).rows(frozen(study).materials, found)
    columns = {str(name): [row[place] for row in rows] for place, name in enumerate(header)}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    write_atomic(out, buffer.getvalue())
    return [out]


def _eee(study: Study, found: Any, out: Path, publisher: Publisher) -> list[Path]:
    paths = []
    for place, record in records(study, found, publisher):
        paths.append(out / place)
        make_folder(paths[-1].parent)
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomic(paths[-1], f"{text}\n".encode())
    return paths


Writer = Callable[[Study, Any, Path, Publisher], list[Path]]
KINDS: Mapping[str, Writer] = {"csv": _csv, "parquet": _parquet, "eee": _eee}
