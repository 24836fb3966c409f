"""A gold set put before judges: one cell beside the grid, whatever the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from harness.asking.executor import Each
from harness.asking.models.model import Answer
from harness.asking.models.usage import UsageCount
from harness.asking.replies.reply_count import ReplyOutcome
from harness.asking.replies.structured_output import Heard
from harness.results import GoldKey, GoldResult, GoldTranscript, Score

GoldText = TypeVar("GoldText")


class Grading(NamedTuple):
    """What one judge made of one gold text: a score or a verdict, its words, and its replies."""

    judge: str
    grade: Score | str
    words: str
    answers: Sequence[Answer]
    reply: ReplyOutcome


class GoldExam(Generic[GoldText]):
    """The cell in which every judge of a study grades every gold text."""

    def __init__(
        self,
        judges: Sequence[str],
        texts: Sequence[GoldText],
        gradings: Callable[[GoldText], Iterable[Grading]],
        *,
        graded_in: Literal["scores", "verdicts"],
        heard: Heard,
        each: Each,
    ) -> None:
        """Set the exam up.

        gradings: yields what each judge makes of a text. graded_in: the field of GoldResult that
        the grades are for. heard: is called with every reply's state; each: runs the texts.
        """
        self._judges, self._texts, self._gradings = judges, texts, gradings
        self._graded_in, self._heard, self._each = graded_in, heard, each
        self._used = UsageCount()
        self._words: dict[str, list[str]] = {name: [] for name in judges}

    def run(self) -> GoldResult:
        """Have every text graded; raises what the models raise."""
        grades: dict[str, list[Score | str]] = {name: [] for name in self._judges}
        for gradings in self._each(self._graded, self._texts):
            for grading in gradings:
                grades[grading.judge].append(grading.grade)
                self._words[grading.judge].append(grading.words)
        of_field: dict[str, Any] = {"scores": {}, "verdicts": {}, self._graded_in: grades}
        return GoldResult(
            cell=GoldKey(), served=self._used.served, usage=self._used.usage, **of_field
        )

    def transcript(self) -> GoldTranscript:
        """Return what the judges said of the texts, once all are graded."""
        return GoldTranscript(GoldKey(), self._words)

    def _graded(self, text: GoldText) -> list[Grading]:
        graded = []
        for grading in self._gradings(text):
            for answer in grading.answers:
                self._used.add(grading.judge, answer)
            self._heard(grading.reply)
            graded.append(grading)
        return graded
