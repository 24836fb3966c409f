"""What a finished DDFT cell holds, what was said in it, and what the study's results hold."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.results.cell_names import name_part
from harness.results.fallbacks import Replies
from harness.results.score import Score
from harness.results.shared import Usage, Value
from harness.results.study_results import StudyResults

SCRIPTED, TEMPLATE = "scripted", "template"  # sources of questions that nobody wrote for a dialogue


class Turn(msgspec.Struct):
    """One turn: where its question came from, what became of the answer, the jury's scores.

    far, sas: means over the n_judges that gave a score, null where none did. missing: whether there
    was no answer, for the reason that answer_state has; then no judge was asked.
    """

    turn: int
    question_source: str
    answer_state: str
    scores: dict[str, Score]
    n_judges: int
    far: float | None
    sas: float | None
    missing: bool = False


class CellKey(msgspec.Struct, frozen=True, order=True):
    """The place of one dialogue in the study's grid."""

    subject: str
    concept: str
    level: float
    arm: str = "paper"
    repeat: int = 1

    @property
    def name(self) -> str:
        """Return the cell's name, from which its file name is made."""
        subject = name_part(self.subject)
        return f"{subject}--{self.concept}--c{self.level:g}--{self.arm}--r{self.repeat}"

    @property
    def examined(self) -> str:
        """Return the model under test."""
        return self.subject


class CellResult(msgspec.Struct):
    """What a finished cell gives: numbers and states, no model's words.

    served: the names each endpoint gave for its model. usage: by model.
    same_family: the judges of the subject's own family. replies: of judges and interviewer.
    """

    cell: CellKey
    context_chars: int
    trap_source: str
    turns: list[Turn]
    served: dict[str, list[str]]
    usage: dict[str, Usage]
    same_family: list[str]
    replies: list[Replies] = []


class Exchange(msgspec.Struct):
    """One turn's words: the question, the answer, every judge's reply."""

    turn: int
    question: str
    answer: str
    replies: dict[str, str]


class Transcript(msgspec.Struct):
    """A dialogue as it was held, handed over by a replay to those who show it."""

    cell: CellKey
    context: str
    trap: dict[str, str]
    exchanges: list[Exchange]


class Level(msgspec.Struct):
    """Mean FAR and SAS of a subject at one compression level, over n turn evaluations."""

    level: float
    far: Value
    sas: Value


class SubjectMetrics(msgspec.Struct):
    """A subject's metrics in one arm; how each is defined stands in ddft/metrics.py.

    complete: whether all its planned cells are there; else every metric is null, with that reason.
    """

    subject: str
    arm: str
    complete: bool
    levels: list[Level]
    hoc: Value
    hoc_onset: Value
    cri: Value
    far_prime: Value
    sas_prime: Value
    ci_raw: Value
    ci: Value
    phenotype: str | None
    danger_zone: Value


class Results(StudyResults, kw_only=True):
    """results.json of a DDFT study: what it found, and by which rules."""

    metrics_version: int = 2
    subjects: list[SubjectMetrics]
    analysis: Any
    cells: list[CellResult]
