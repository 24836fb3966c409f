"""What a protocol is to the rest: the one seam at which protocols differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from harness.asking.executor import Each, in_turn
from harness.asking.models.model import Message, Model
from harness.asking.replies.one_word import imagined_word
from harness.asking.replies.structured_output import Heard, ignored
from harness.asking.sources.fact_source import Source
from harness.errors import UsageError
from harness.page.page import ProtocolPage
from harness.page.replayed_study import AnyStudy
from harness.protocols.page import plain_page
from harness.results import AnswerCounts, Fitness, Gold, Interval, Materials
from harness.results.answers import NO_ANSWERS
from harness.results.bounds import Bounds
from harness.results.growth import AddedFields
from harness.results.metric_tables import metric_rows, metrics_table
from harness.results.scored import Scored
from harness.results.table import Table
from harness.study.folder import Study
from harness.study.plan import Plan
from harness.version import VERSION

YEAR, NAME = "1900", "Nemo Fulano"  # that an imagined passage has, so that a gap can be left


class Axis(NamedTuple):
    """One axis of a grid that may be cut: its name in the study file, and all that is on it.

    is_scale: whether they are numbers, of which a cut has both ends and some evenly between; of any
    others it has some drawn by the study's seed. is_counted: whether the study file has only how
    many there are.
    """

    name: str
    items: Sequence[Any]
    is_scale: bool = False
    is_counted: bool = False


class Changes(NamedTuple):
    """The intervals of metrics' changes, by model, place and metric; why the others have none."""

    intervals: Mapping[tuple[str, str, str], Interval]
    otherwise: str


class Command(NamedTuple):
    """A command of a cell; folder: a fresh one, in whose subfolder `work` it runs; in seconds."""

    arguments: Sequence[str]
    folder: Path
    timeout: float


class CommandCall(NamedTuple):
    """A call that a command made: its endpoint, its texts, the model's name for itself, tokens."""

    endpoint: str
    request: str
    answer: str
    served: str
    tokens: tuple[int, int] | None


class CommandRun(NamedTuple):
    """How a command ran.

    code: its exit code. attempts: connections past the proxy, None where they are not seen.
    isolation: what kept it apart, in words. stdout, stderr: their last 100 kB.
    """

    code: int
    timed_out: bool
    attempts: int | None
    isolation: str
    stdout: str
    stderr: str
    calls: Sequence[CommandCall]
    sends: bool


RunCommand = Callable[[Command], CommandRun]


class Surroundings(NamedTuple):
    """What a cell is run with: models and sources by the study's names of them.

    heard: is called with each verdict that a model gave, by its state ("ok" or what was wrong).
    each: how what can be done at once is done. run_command: runs a command whose calls are recorded
    or replayed.
    """

    models: Mapping[str, Model]
    sources: Mapping[str, Source] = {}
    heard: Heard = ignored
    each: Each = in_turn
    run_command: RunCommand | None = None


class Held(Protocol):
    """A cell that is being recorded or replayed."""

    def run(self) -> Any:
        """Make every call, and return the cell's numbers; raises what models and sources raise.

        The numbers are a msgspec struct with `cell` (its place), `served` and `usage`; its
        `replies`, where judges reply in a form, are counted (results/fallbacks.py).
        """

    def transcript(self) -> Any:
        """Return what was said so far: a struct with `cell`.

        Where a verdict says more of a cell than its numbers, it has `remarks`, pairs of texts: what
        was looked at ("outputs") and how it is ("identical").
        """


class NoRules(NamedTuple):
    """The rules of a protocol whose metrics have none."""


class StudyProtocol:
    """A protocol, as recording, replay and the commands need it.

    Another package derives from this, and names an instance of it as its entry point; our own are
    modules with the same names in them. What only raises here every protocol has; what returns
    something fits a protocol without judges, rules and analysis.
    """

    PLAN: type[Plan]  # the form of its table in study.toml
    EXAMINED: str = "subject"  # the role of the models under test
    VERSIONS: tuple[int, ...] = (1,)  # of the protocol that this release can run
    PROMPTS: Mapping[str, str] = {}  # that a new study freezes, by name
    PLACEHOLDERS: Mapping[str, Sequence[str]] = {}  # that each prompt is filled with
    JUDGING: str = ""  # the prompt by which answers are judged
    CAN_REJUDGE: bool = False  # whether another jury can judge what is recorded
    ADDED: AddedFields = {}  # the fields that its results grew by

    # Recording and replay

    def fresh(self, study: Study) -> Materials:
        """Return the materials that a new study freezes."""
        return Materials(VERSION, study.file.protocol, self.VERSIONS[-1], dict(self.PROMPTS))

    def cell(self, study: Study, key: Any, materials: Materials, around: Surroundings) -> Held:
        """Set up one cell; nothing is asked before it is run."""
        raise NotImplementedError

    def score(self, study: Study, materials: Materials, cells: Sequence[Any]) -> Any:
        """Compute a study's results from finished cells, its study-level analysis among them.

        They are a struct that derives from results.StudyResults, and has `cells`.
        """
        raise NotImplementedError

    def partly_scored(self, study: Study, materials: Materials, cells: Sequence[Any]) -> Any:
        """Compute metrics of some of a study's cells; the analysis may be left out."""
        return self.score(study, materials, cells)

    def metric_rules(self, study: Study) -> Any:
        """Return the rules of the metrics as the study file makes them, a named tuple."""
        del study
        return NoRules()

    def missing(self, results: Sequence[Any]) -> int:
        """Count the verdicts of finished cells that are missing."""
        del results
        return 0

    def answers(self, results: Sequence[Any]) -> AnswerCounts:
        """Count the answers of the models examined, by kind."""
        del results
        return NO_ANSWERS

    def stalls(self, results: Any) -> list[str]:
        """Return the cells that ended before anything was asked, and why, a line for each."""
        del results
        return []

    # Judges and their gold set

    def judges(self, study: Study) -> list[str]:
        """Return the models that judge."""
        del study
        return []

    def with_gold(self, study: Study, materials: Materials, gold: Gold) -> Materials:
        """Return materials with what of a gold set is for this protocol, and its texts."""
        del materials, gold
        raise _unavailable(study, "gold set")

    def exam(self, study: Study, materials: Materials, around: Surroundings) -> Held:
        """Set up the cell in which the judges take the materials' gold set."""
        del materials, around
        raise _unavailable(study, "gold set")

    def fitness(
        self,
        study: Study,
        materials: Materials,
        taken: Any,
        cells: Sequence[Any],
        transcripts: Sequence[Any],
    ) -> list[Fitness]:
        """Return whether each judge is fit, by a gold set (None: not taken) and a recording."""
        del study, materials, taken, cells, transcripts
        return []

    def is_judgement(self, call: str) -> bool:
        """Tell whether a call is a judge's, which another jury's takes the place of."""
        del call
        return False

    def jury_tables(self, before: Any, after: Any) -> list[Table]:
        """Return what another jury changes, as tables; only where CAN_REJUDGE."""
        del before, after
        return []

    # Before recording

    def pilot_cells(self, study: Study) -> Sequence[Any]:
        """Return the reduced grid of a pilot; raises UsageError where the study has none."""
        raise _unavailable(study, "pilot; record it without --pilot")

    def pilot_lines(self, study: Study, cells: Sequence[Any]) -> list[str]:
        """Return what the finished cells of a pilot show, a line each."""
        del cells
        raise _unavailable(study, "pilot")

    def axes(self, study: Study) -> list[Axis]:
        """Return what of a grid a sample may leave out, what is missed most first."""
        del study
        return []

    def calls_a_cell(self, study: Study) -> int:
        """Return about how many calls a cell makes, for the time that is left."""
        del study
        return 1

    def may_ask_again(self, call: str) -> bool:
        """Tell whether a call is made once more where its reply cannot be used."""
        del call
        return False

    def is_bounded(self, study: Study) -> bool:
        """Tell whether an estimate with every second ask has all the calls there can be."""
        del study
        return True

    def undefined_by_rule(self, study: Study) -> list[str]:
        """Say which of a study's metrics its rules or its size leave undefined, and what helps."""
        del study
        return []

    def imagined(self, call: str, messages: Sequence[Message], limit: int) -> str:
        """Return a reply of about `limit` tokens that the protocol can use, for an estimate."""
        del call
        return imagined_word(messages) or "word " * max(1, limit * 4 // 5)

    # What is shown

    def scoreboard(self, results: Any) -> list[Scored]:
        """Return every metric of every model, in the order of the results."""
        raise NotImplementedError

    def words(self, transcript: Any) -> Mapping[str, str]:
        """Return everything that was said in a cell, by the names of its calls, in order."""
        words: Mapping[str, str] = transcript.words
        return words

    def tables(self, results: Any) -> list[Table]:
        """Return results as tables."""
        return [metrics_table(self.scoreboard(results))]

    def rows(self, materials: Materials, results: Any) -> list[Sequence[object]]:
        """Return the finest data as rows, the columns' names first."""
        del materials
        return metric_rows(self.scoreboard(results))

    def bounds(self, study: Study, results: Any) -> Bounds:
        """Return what missing verdicts could change at most."""
        del study, results
        return Bounds(())

    def findings(self, results: Any) -> list[str]:
        """Return what a study found, in sentences."""
        del results
        return []

    def page(self, study: Study, replayed: AnyStudy) -> ProtocolPage:
        """Return what is on a study's page beside its tables."""
        return plain_page(study.file.protocol, self.words, replayed)

    # Two recordings compared

    def cell_scores(self, results: Any) -> Mapping[str, Mapping[str, float | None]]:
        """Return each cell's scores by its name."""
        return {cell.cell.name: {} for cell in results.cells}

    def changes(self, before: Study, old: Any, after: Study, new: Any) -> Changes:
        """Return how sure the changes of metrics between two recordings are."""
        del before, old, after, new
        return Changes({}, "the protocol has no errors of changes")

    def attributions(self, old: Any, new: Any) -> list[Any]:
        """Return which part of a metric changed a subject's class, where there are such parts."""
        del old, new
        return []

    def attribution_tables(
        self, attributions: Sequence[Any], before: str, after: str
    ) -> list[Table]:
        """Return attributions as tables; before, after: the names of the two recordings."""
        del attributions, before, after
        return []


def _unavailable(study: Study, facility: str) -> UsageError:
    protocol = study.file.protocol
    return UsageError(
        f"{study.name} is a study of the protocol {protocol!r}, which has no {facility}"
    )
