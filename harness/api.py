"""The same from Python as from the command line: a study is opened once, and read once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

from harness.bundle.replay import is_bundle, opened
from harness.bundle.replay import replay as replay_study
from harness.errors import UsageError
from harness.results import Materials
from harness.results.table import Table
from harness.run.checked import Checked, checked
from harness.run.verdict import Files, Verdict, verify_files
from harness.run.wiring import frozen
from harness.study.folder import Cell, Study, find_study

if TYPE_CHECKING:
    from harness.bundle.pack import Packed, Wishes
    from harness.diff.schema import Diff
    from harness.export.every_eval_ever import Publisher
    from harness.report.write import WrittenReport
    from harness.run.record import Recording, RecordOutcome
    from harness.run.rescore import Rescored


class OpenStudy:
    """A study whose folder or bundle is open: what the commands do with it, and what they read.

    Files are read when they are first needed, and then not again: a study that another program
    changes meanwhile is to be opened anew. In a `with` statement, or when the object is gone, what
    a bundle was unpacked into is removed.
    """

    def __init__(self, study: Study, named: str, resources: contextlib.ExitStack) -> None:
        self.study, self.named = study, named
        self._resources = resources
        self._checked: dict[bool, Checked] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what a bundle was unpacked into."""
        self._resources.close()

    @property
    def name(self) -> str:
        """Return the study's name, that of its folder."""
        return self.study.name

    @property
    def materials(self) -> Materials:
        """Return the texts and prompts that the study froze; raises UsageError where none are."""
        return frozen(self.study).materials

    @property
    def recorded_cells(self) -> list[Cell]:
        """Return the cells that are recorded to their end."""
        return self.study.recorded_cells()

    def replay(
        self,
        *,
        verify_checksums: bool | None = None,
        expect: str = "",
        workers: int | None = None,
    ) -> Verdict:
        """Replay without a network and recompute every number; see Verdict for what it says.

        verify_checksums: compare the files with the manifest (default: where there is one).
        expect: the fingerprint that a paper printed. workers: how many processes (default: by
        size). Where a bundle lacks bodies the verdict is incomplete.
        """
        return replay_study(
            self.study, verify_checksums=verify_checksums, expect=expect, workers=workers
        )

    def verify(self) -> Files:
        """Compare the files with the manifests; raises UsageError where there are none."""
        return verify_files(self.study)

    def analyze(self, *, verify: bool = True) -> Checked:
        """Replay without a network, and return the results with how far they were checked.

        verify: compare files with the manifest and results with results.json. Raises CheckFailed
        where something differs or a cell does not replay, UsageError where bodies are left out.
        Done once; the second time the same is returned.
        """
        if verify not in self._checked:
            self._checked[verify] = checked(self.study, verify=verify)
        return self._checked[verify]

    def tables(self, *, verify: bool = True) -> list[Table]:
        """Return the study's tables, their cells numbers; raises as `analyze`."""
        from harness.protocols.tables import tables_of

        return tables_of(self.study, self.analyze(verify=verify).results)

    def rows(self, *, verify: bool = True) -> list[list[object]]:
        """Return the finest data, one row a judgement or probe, the columns' names first."""
        from harness.export.rows import rows_of

        return rows_of(self.analyze(verify=verify))

    def export(
        self, kind: str, out: Path, publisher: Publisher | None = None, *, verify: bool = True
    ) -> list[Path]:
        """Write the data for other programs, and return the files.

        kind: "csv", "parquet" or "eee". publisher: who hands records of Every Eval Ever out.
        Raises as `analyze`, and UsageError where the place does not fit.
        """
        from harness.export.every_eval_ever import NOBODY
        from harness.export.files import export

        return export(self.analyze(verify=verify), kind, out, publisher or NOBODY)

    def report(
        self, out: Path, pictures: Path | None = None, *, verify: bool = True
    ) -> WrittenReport:
        """Write the study's page, and its figures as PNG into a folder; raises as `analyze`."""
        from harness.report.write import write_report

        return write_report([self.study], out, pictures, verify=verify)

    def diff(self, after: OpenStudy, *, verify: bool = True) -> Diff:
        """Compare this recording with a later one, over the cells that both have.

        Raises UsageError where they have none in common, CheckFailed where one does not replay or
        is not what was published.
        """
        from harness.diff.compare import compare

        return compare(self.study, after.study, (self.named, after.named), verify=verify)

    def pack(self, out: Path, wishes: Wishes | None = None) -> Packed:
        """Write the bundle for reviewers; nothing is written where the study does not replay."""
        from harness.bundle.pack import WHOLE, pack

        return pack(self.study, out, wishes or WHOLE)

    def score(self, settings: Mapping[str, object], *, verify: bool = True) -> Rescored:
        """Return the results under other settings of the metrics; nothing is sent or written.

        settings: values by dotted keys, as in "PROTOCOL.missing_limit". Raises UsageError for a
        setting that is not there or would change what is asked.
        """
        from harness.run.rescore import rescore

        return rescore(self.study, settings, verify=verify)

    def show(self, call: str = "", *, verify: bool = True) -> tuple[str, str]:
        """Return a recorded call in full ("CELL:CALL"), or a list of calls or cells.

        And how far the files were checked. Raises UsageError with what there is.
        """
        from harness.run.checked import check_files
        from harness.run.look import show_call

        verification = check_files(self.study, verify=verify, require_bodies=False)
        return show_call(self.study, call), verification

    def recording(
        self,
        *,
        restart: Iterable[str] = (),
        prices: Path | None = None,
        cost_limit: float | None = None,
        keep_going: bool = False,
        pilot: bool = False,
        accept_missing: Iterable[str] = (),
    ) -> Recording:
        """Prepare a recording of what is not yet recorded; its `run` asks the models.

        The arguments are those of `harness record`. Raises UsageError for a bundle, which is a
        finished recording, and for what does not fit.
        """
        from harness.run.record import Recording

        self._checked.clear()
        return Recording(
            self.require_folder("recorded into"),
            restart=restart,
            price_file=prices,
            cost_limit=cost_limit,
            keep_going=keep_going,
            pilot=pilot,
            accept_missing=accept_missing,
        )

    def write_partial(self) -> Path:
        """Write results.partial.json from the finished cells; raises CheckFailed as a replay."""
        from harness.run.replay import write_partial

        return write_partial(self.require_folder("added to"))

    def require_folder(self, verb: str) -> Study:
        """Return the study; raises UsageError where it was unpacked from a bundle."""
        if is_bundle(self.named):
            raise UsageError(
                f"{self.named}: a bundle is a finished recording and cannot be {verb}. Unpack it "
                "(tar --zstd -xf) and name the study's folder."
            )
        return self.study


def open_study(study: str | Path, *, root: Path | None = None) -> OpenStudy:
    """Open a study by its name, its folder, or its bundle (.tar.zst).

    root: the folder that holds cassettes/ (default: the nearest one upwards). Raises UsageError
    where there is no such study, DamagedFile where a bundle is not sound.
    """
    named = str(study)
    with contextlib.ExitStack() as resources:
        if is_bundle(named):
            folder = resources.enter_context(opened(Path(named)))
        else:
            folder = find_study(named, root)
        return OpenStudy(folder, named, resources.pop_all())


def record(study: str, *, root: Path | None = None, workers: int | None = None) -> RecordOutcome:
    """Record what is not yet recorded of a study; OpenStudy.recording takes more settings."""
    with open_study(study, root=root) as opened_study:
        return opened_study.recording().run(workers)


def replay(
    study: str,
    *,
    root: Path | None = None,
    verify_checksums: bool | None = None,
    expect: str = "",
    workers: int | None = None,
) -> Verdict:
    """Replay a study or a bundle without a network; see OpenStudy.replay."""
    with open_study(study, root=root) as opened_study:
        return opened_study.replay(
            verify_checksums=verify_checksums, expect=expect, workers=workers
        )


def score(study: str, settings: Mapping[str, object], *, root: Path | None = None) -> Rescored:
    """Return a study's results under other settings of its metrics; see OpenStudy.score."""
    with open_study(study, root=root) as opened_study:
        return opened_study.score(settings)
