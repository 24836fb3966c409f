"""A command as recording, replay and the other commands need it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.asking.models.usage import spending
from harness.errors import CheckFailed, UsageError
from harness.files import make_folder, write_atomic
from harness.protocols.program.outputs import Output, compare, numbers, read_output
from harness.protocols.program.study_table import ProgramKey, ProgramPlan
from harness.protocols.seam import Command, CommandRun, StudyProtocol, Surroundings
from harness.results import Materials, Missing, StudyResults, Usage, Value
from harness.results.growth import AddedFields
from harness.results.scored import Metric, Scored
from harness.study.folder import Study

OUTPUTS = "outputs"
SHOWN = 2000  # characters of a failed command's last words


class ProgramResult(msgspec.Struct):
    """What a finished cell gives: the outputs, and what was asked, by endpoint."""

    cell: ProgramKey
    outputs: list[Output]
    served: dict[str, list[str]]
    usage: dict[str, Usage]


class ProgramTranscript(msgspec.Struct):
    """What was asked and answered in a cell; remarks: how outputs compare, what kept it apart."""

    cell: ProgramKey
    words: dict[str, str]
    remarks: list[tuple[str, str]] = []


class ProgramResults(StudyResults, kw_only=True):
    """results.json of a study that is a command."""

    analysis: dict[str, Any] = {}
    cells: list[ProgramResult]


class ProgramCell:
    """A cell that is being recorded or replayed."""

    def __init__(self, study: Study, key: ProgramKey, around: Surroundings) -> None:
        self._study, self._key, self._run_command = study, key, around.run_command
        self._plan = plan_of(study)
        self._transcript = ProgramTranscript(key, {})

    def run(self) -> ProgramResult:
        """Run the command, and compare what it made with what is kept, or keep it.

        Raises CheckFailed where it fails, asks past the proxy, or makes something else.
        """
        if self._run_command is None:
            raise UsageError("what a program asks is not known before it runs")
        with tempfile.TemporaryDirectory(prefix="harness-program-") as name:
            folder = Path(name).resolve()
            self._copy_files(folder / "work")
            run = self._run_command(Command(self._arguments(), folder, self._plan.timeout))
            self._check(run)
            made = self._made(folder / "work")
        self._keep_or_compare(run, made)
        outputs = [read_output(name, content) for name, content in made.items()]
        return ProgramResult(self._key, outputs, _served(run), _usage(run))

    def transcript(self) -> ProgramTranscript:
        """Return what was asked and answered, by the calls' numbers."""
        return self._transcript

    def _arguments(self) -> list[str]:
        arguments = [self._key.filled(argument) for argument in self._plan.command]
        if arguments[0] in ("python", "python3"):
            arguments[0] = sys.executable
        return arguments

    def _copy_files(self, work: Path) -> None:
        for name in self._plan.files:
            source = self._study.folder / name
            if not source.is_file() or source.is_symlink():
                raise UsageError(f"{source}: [program] files names it, and there is no such file.")
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, work / name)
        work.mkdir(exist_ok=True)

    def _check(self, run: CommandRun) -> None:
        name = self._key.name
        if run.timed_out:
            raise CheckFailed(f"{name}: the program ran longer than {self._plan.timeout:g} s.")
        if run.code != 0:
            words = (run.stderr or run.stdout)[-SHOWN:].strip()
            past = _past(run)
            raise CheckFailed(
                f"{name}: the program ended with exit code {run.code}{past}:\n{words}"
            )
        if not run.calls:
            raise CheckFailed(
                f"{name}: 0 calls went through the proxy{_past(run)}. The program asked nothing, "
                "asked somebody directly, or its client ignores the variables with the address "
                f"(endpoints: {', '.join(self._study.file.endpoints)})."
            )
        if run.attempts:
            raise CheckFailed(
                f"{name}: {len(run.calls)} calls went through the proxy{_past(run)}. What goes "
                "past it is not recorded and cannot be replayed; lead it to the proxy's address."
            )

    def _made(self, work: Path) -> dict[str, bytes]:
        made: dict[str, bytes] = {}
        for name in map(self._key.filled, self._plan.outputs):
            path = work / name
            if not path.is_file() or path.is_symlink():
                raise CheckFailed(f"{self._key.name}: the program did not make {name}.")
            made[name] = path.read_bytes()
        return made

    def _keep_or_compare(self, run: CommandRun, made: dict[str, bytes]) -> None:
        folder = self._study.folder / OUTPUTS / self._key.name
        for number, call in enumerate(run.calls, 1):
            self._transcript.words[f"{number} {call.endpoint} request"] = call.request
            self._transcript.words[f"{number} {call.endpoint} answer"] = call.answer
        if not run.sends:
            self._transcript.remarks = [
                *(("outputs", compare(folder / name, name, made[name])) for name in made),
                ("isolation", run.isolation),
            ]
            return
        for name, content in made.items():
            _write(folder / name, content)
        for name, text in (("stdout.txt", run.stdout), ("stderr.txt", run.stderr)):
            _write(folder.with_name(f"{folder.name}.{name}"), text.encode())


def _write(path: Path, content: bytes) -> None:
    make_folder(path.parent)
    write_atomic(path, content)


def _past(run: CommandRun) -> str:
    if not run.attempts:
        return ""
    return f", and {run.attempts} attempts to connect past it were refused"


def _served(run: CommandRun) -> dict[str, list[str]]:
    served: dict[str, set[str]] = {}
    for call in run.calls:
        if call.served:
            served.setdefault(call.endpoint, set()).add(call.served)
    return {name: sorted(models) for name, models in sorted(served.items())}


def _usage(run: CommandRun) -> dict[str, Usage]:
    usage: dict[str, Usage] = {}
    for call in run.calls:
        count = usage.setdefault(call.endpoint, Usage())
        count.calls += 1
        count.calls_without_tokens += call.tokens is None
        prompt, completion = call.tokens or (0, 0)
        count.prompt_tokens += prompt
        count.completion_tokens += completion
    return dict(sorted(usage.items()))


def plan_of(study: Study) -> ProgramPlan:
    """Return a study's table; raises UsageError where it is another protocol's."""
    return study.plan_as(ProgramPlan, "program")


class ProgramProtocol(StudyProtocol):
    """The protocol of a study that is a command."""

    PLAN = ProgramPlan
    EXAMINED = "program"
    ADDED: AddedFields = {}

    def cell(
        self, study: Study, key: ProgramKey, materials: Materials, around: Surroundings
    ) -> ProgramCell:
        """Set up one cell; its command is not run yet."""
        del materials
        return ProgramCell(study, key, around)

    def score(
        self, study: Study, materials: Materials, cells: Sequence[ProgramResult]
    ) -> ProgramResults:
        """Return the outputs of all cells; their numbers are the program's own."""
        return ProgramResults(
            study=study.name,
            protocol=study.file.protocol,
            protocol_version=materials.protocol_version,
            valid=True,
            invalid_reason=None,
            rules={},
            missing=Missing(0, 0, 0.0, 0.0, {}),
            spending=spending(cells, materials.prices),
            cells=list(cells),
        )

    def scoreboard(self, results: ProgramResults) -> list[Scored]:
        """Return every number that the outputs' JSON objects name."""
        return [
            Scored(cell.cell.name, output.name, _metric(place), Value(number, 1))
            for cell in results.cells
            for output in cell.outputs
            for place, number in numbers(output.content)
        ]


def _metric(place: str) -> Metric:
    return Metric(place, place, "a number of the program's own", "", high=None)


PROTOCOL = ProgramProtocol()
