"""What a protocol is to the rest: the one seam at which protocols differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from harness.asking.executor import Each, in_turn
from harness.asking.models.model import Message, Model
from harness.asking.replies.structured_output import Heard, ignored
from harness.asking.sources.fact_source import Source
from harness.page.page import ProtocolPage
from harness.page.replayed_study import AnyStudy
from harness.results import AnswerCounts, Fitness, Gold, Interval, Materials
from harness.results.bounds import Bounds
from harness.results.scored import Scored
from harness.results.table import Table
from harness.study.folder import Study
from harness.study.plan import Plan

YEAR, NAME = "1900", "Nemo Fulano"  # that an imagined passage has, so that a gap can be left


class Axis(NamedTuple):
    """One axis of a grid that may be cut: its name in the study file, and all that is on it."""

    name: str
    items: Sequence[Any]


class Changes(NamedTuple):
    """The intervals of metrics' changes, by model, place and metric; why the others have none."""

    intervals: Mapping[tuple[str, str, str], Interval]
    otherwise: str


class Surroundings(NamedTuple):
    """What a cell is held with.

    heard: hears of each verdict that a model gave, by its state ("ok" or what was wrong). each:
    how what can be done at once is done.
    """

    models: Mapping[str, Model]
    sources: Mapping[str, Source] = {}
    heard: Heard = ignored
    each: Each = in_turn


class Held(Protocol):
    """A cell on its way."""

    def run(self) -> Any:
        """Hold it, and give its numbers; raises what models and sources raise."""

    def transcript(self) -> Any:
        """Give its words so far."""


class StudyProtocol(Protocol):
    """One protocol, as recording, replay and the commands need it: a module of each protocol."""

    VERSIONS: tuple[int, ...]  # of the protocol that this release can run
    PLACEHOLDERS: Mapping[str, Sequence[str]]  # that each prompt is filled with
    PLAN: type[Plan]  # the form of its table in study.toml
    EXAMINED: str  # the role of the models under test
    CAN_REJUDGE: bool  # whether another jury can judge what is recorded
    JUDGING: str  # the prompt by which answers are judged

    def fresh(self, study: Study) -> Materials:
        """Give the materials that a new study freezes."""

    def cell(self, study: Study, key: Any, materials: Materials, around: Surroundings) -> Held:
        """Set up one cell."""

    def with_gold(self, study: Study, materials: Materials, gold: Gold) -> Materials:
        """Return materials with what of a gold set is for this protocol, and its texts."""

    def exam(self, study: Study, materials: Materials, around: Surroundings) -> Held:
        """Set up the cell in which the judges take the materials' gold set."""

    def fitness(
        self,
        study: Study,
        materials: Materials,
        taken: Any,
        cells: Sequence[Any],
        transcripts: Sequence[Any],
    ) -> list[Fitness]:
        """Return whether each judge is fit, by a gold set (None: not taken) and a recording."""

    def pilot_cells(self, study: Study) -> Sequence[Any]:
        """Return the reduced grid of a pilot; raises UsageError where the study has none."""

    def stalls(self, results: Any) -> list[str]:
        """Return the cells that ended before anything was asked, and why, a line for each."""

    def calls_a_cell(self, study: Study) -> int:
        """Give about how many calls a cell makes, for the time that is left."""

    def missing(self, results: Sequence[Any]) -> int:
        """Count the verdicts of finished cells that are missing."""

    def answers(self, results: Sequence[Any]) -> AnswerCounts:
        """Count the answers of the models examined, by kind."""

    def score(self, study: Study, materials: Materials, cells: Sequence[Any]) -> Any:
        """Compute a study's results from finished cells, its study-level analysis among them."""

    def metric_rules(self, study: Study) -> Any:
        """Give the rules of the metrics as the study file makes them, a named tuple."""

    def tables(self, found: Any) -> list[Table]:
        """Give results as tables for people."""

    def rows(self, materials: Materials, found: Any) -> list[Sequence[object]]:
        """Give the finest data as rows, the columns' names first."""

    def bounds(self, study: Study, found: Any) -> Bounds:
        """Return what missing verdicts could change at most."""

    def findings(self, found: Any) -> list[str]:
        """Return what a study found, in sentences; a protocol may lack this function."""

    def page(self, study: Study, replayed: AnyStudy) -> ProtocolPage:
        """Return what is on a study's page beside its tables; a protocol may lack this function."""

    def scoreboard(self, found: Any) -> list[Scored]:
        """Return every metric of every model, in the order of the results."""

    def partly_scored(self, study: Study, materials: Materials, cells: Sequence[Any]) -> Any:
        """Compute metrics of some of a study's cells, without the analysis."""

    def axes(self, study: Study) -> list[Axis]:
        """Return what of a grid a sample may leave out, what is missed most first."""

    def words(self, transcript: Any) -> Mapping[str, str]:
        """Return everything that was said in a cell, by the names of its calls, in order."""

    def cell_scores(self, found: Any) -> Mapping[str, Mapping[str, float | None]]:
        """Return each cell's scores by its name."""

    def changes(self, before: Study, old: Any, after: Study, new: Any) -> Changes:
        """Return how sure the changes of metrics between two recordings are."""

    def attributions(self, old: Any, new: Any) -> list[Any]:
        """Return which part of a metric changed a subject's class, where there are such parts."""

    def judges(self, study: Study) -> list[str]:
        """Return the models that judge."""

    def may_ask_again(self, call: str) -> bool:
        """Tell whether a call is made once more where its reply cannot be used."""

    def is_bounded(self, study: Study) -> bool:
        """Tell whether an estimate with every second ask has all the calls there can be."""

    def undefined_by_rule(self, study: Study) -> list[str]:
        """Say which of a study's metrics its rules or its size leave undefined, and what helps."""

    def imagined(self, call: str, messages: Sequence[Message], limit: int) -> str:
        """Give a reply of about `limit` tokens that the protocol can use, for an estimate."""
