"""What a recording says of one model, as plain values: CognitiveProfiler and DepthCharge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness.errors import Incomplete, UsageError
from harness.protocols.ddft.protocol import scored
from harness.protocols.ddft.study_table import ddft_plan
from harness.protocols.depthcharge import protocol as drills
from harness.protocols.depthcharge.study_table import depthcharge_plan
from harness.recording.recorder import Mode
from harness.results import (
    CellKey,
    DrillTranscript,
    Probe,
    RunKey,
    RunMetrics,
    RunResult,
    SubjectMetrics,
    Value,
)
from harness.run.checked import check_files, checked_cells
from harness.run.record import Recording
from harness.run.wiring import frozen
from harness.study.folder import Study, find_study

Choice = TypeVar("Choice", str, float, int)


@dataclass(frozen=True)
class Profile:
    """What DDFT says of one model, over the concepts and levels that were asked for.

    A value that is undefined is None, and `reasons` says why; `metrics` has everything with its n.
    ci_score is normalized by the study's rule across all its subjects; danger_zone_pct is a
    percentage of answers. verification: "verified", or a text that begins with "unverified".
    """

    model: str
    ci_score: float | None
    phenotype: str | None
    danger_zone_pct: float | None
    hoc: float | None
    cri: float | None
    reasons: dict[str, str]
    metrics: SubjectMetrics
    verification: str


class CognitiveProfiler:
    """Profile one subject of a study, from its recording.

    model: the subject's name in the study. study: a name, or a folder's path. mode: "none" replays
    and never sends; "new_episodes" first records what is missing. verify_checksums: compare files
    with the manifest and numbers with results.json first. Raises UsageError that names the recorded
    models for any other.
    """

    def __init__(
        self,
        model: str,
        study: str = "ddft-local",
        mode: Mode = "none",
        root: Path | None = None,
        *,
        verify_checksums: bool = True,
    ) -> None:
        self._study = find_study(study, root)
        self._model, self._mode, self._verify = model, mode, verify_checksums
        if mode == "none":
            check_files(self._study, verify=verify_checksums)
        _require_recorded(self._study, "subjects", ddft_plan(self._study).subjects, model)

    def run_complete_assessment(
        self,
        concepts: Sequence[str] | None = None,
        compression_levels: Sequence[float] | None = None,
    ) -> Profile:
        """Replay the dialogues about these concepts (by name or id) at these levels, and score.

        Raises UsageError for a concept or a level that the study has not, Miss and CheckFailed
        where the recording does not replay.
        """
        if self._mode != "none":
            Recording(self._study).run()
        cells = _chosen(self._study, concepts, compression_levels)
        replayed = checked_cells(self._study, cells, verify=self._verify)
        done = [replay.result for replay in replayed.replays]
        a_subject = len(cells) // len({(cell.subject, cell.arm) for cell in cells})
        results = scored(self._study, frozen(self._study).materials, done, planned=a_subject)
        metrics = next(subject for subject in results.subjects if subject.subject == self._model)
        return _profile(metrics, replayed.verification)


@dataclass(frozen=True)
class Drilled:
    """What a drill says of one target in one domain, in one run.

    survival: S(d) by depth, from depth 1. evd: Expected Valid Depth, with its interval by paths;
    censored: whether the run stopped before knowledge ended, so that evd is too low. probes has
    every question's fate, transcript every question's words, metrics everything with its n.
    """

    target: str
    domain: str
    survival: list[float | None]
    evd: float | None
    interval: tuple[float | None, float | None]
    censored: bool
    stop: str
    metrics: RunMetrics
    probes: list[Probe]
    transcript: DrillTranscript
    verification: str


class DepthCharge:
    """Drill one target of a study, from its recording.

    target: its name in the study. The others are as for CognitiveProfiler. Raises UsageError
    that names the recorded targets for any other.
    """

    def __init__(
        self,
        target: str,
        study: str = "depthcharge-local",
        mode: Mode = "none",
        root: Path | None = None,
        *,
        verify_checksums: bool = True,
    ) -> None:
        self._study = find_study(study, root)
        self._target, self._mode, self._verify = target, mode, verify_checksums
        if mode == "none":
            check_files(self._study, verify=verify_checksums)
        _require_recorded(self._study, "targets", depthcharge_plan(self._study).targets, target)

    def probe(self, domain: str, repeat: int = 1) -> Drilled:
        """Replay one run and score it.

        Raises UsageError for a domain or a repeat that the study has not, Miss and CheckFailed
        where the recording does not replay, Incomplete where it could not be made now.
        """
        plan = depthcharge_plan(self._study)
        _require_choices("domain", [domain], plan.domains)
        _require_choices("repeat", [repeat], list(range(1, plan.repeats + 1)))
        cell = RunKey(self._target, domain, repeat)
        if self._mode != "none" and (problems := _recorded(self._study, cell)):
            raise Incomplete(problems[0])
        replayed = checked_cells(self._study, [cell], verify=self._verify)
        run = replayed.replays[0]
        results = drills.scored(self._study, frozen(self._study).materials, [run.result])
        return _drilled(results.runs[0], run.result, run.transcript, replayed.verification)


def _require_recorded(study: Study, what: str, recorded: Sequence[str], name: str) -> None:
    if name not in recorded:
        raise UsageError(
            f"{study.name} has no recording of {name!r}; its {what} are {', '.join(recorded)}. "
            "Another model needs a study of its own."
        )


def _recorded(study: Study, cell: RunKey) -> list[str]:
    """Record a run that is not there; where it was the last one, the study's results too."""
    if not all(study.cassette(other).exists() for other in study.cells() if other != cell):
        return Recording(study, only=[cell]).run().problems
    return Recording(study).run().problems


def _drilled(
    metrics: RunMetrics, result: RunResult, transcript: DrillTranscript, verification: str
) -> Drilled:
    evd = metrics.evd
    return Drilled(
        result.cell.target,
        result.cell.domain,
        [depth.survival.value for depth in metrics.depths],
        evd.value.value,
        (evd.two_way.low, evd.two_way.high),
        evd.censored,
        result.stop,
        metrics,
        result.probes,
        transcript,
        verification,
    )


def _chosen(
    study: Study, concepts: Sequence[str] | None, levels: Sequence[float] | None
) -> list[CellKey]:
    names = {concept.name: concept.id for concept in frozen(study).materials.concepts}
    chosen = [names.get(name, name) for name in concepts or names.values()]
    ids = _require_choices("concept", chosen, list(names.values()))
    at_levels = _require_choices(
        "level", list(levels or ddft_plan(study).levels), ddft_plan(study).levels
    )
    arm = ddft_plan(study).arms[0]
    return [
        cell
        for cell in ddft_plan(study).cells()
        if cell.concept in ids and cell.level in at_levels and cell.arm == arm
    ]


def _require_choices(what: str, choices: list[Choice], recorded: list[Choice]) -> list[Choice]:
    for choice in choices:
        if choice not in recorded:
            raise UsageError(f"{what} {choice!r} is not recorded; there are: {recorded}")
    return choices


def _profile(metrics: SubjectMetrics, verification: str) -> Profile:
    danger = metrics.danger_zone.value
    values = {
        "ci_score": metrics.ci,
        "hoc": metrics.hoc,
        "cri": metrics.cri,
        "danger_zone_pct": metrics.danger_zone,
    }
    return Profile(
        metrics.subject,
        metrics.ci.value,
        metrics.phenotype,
        None if danger is None else danger * 100,
        metrics.hoc.value,
        metrics.cri.value,
        {name: _reason(value) for name, value in values.items() if value.value is None},
        metrics,
        verification,
    )


def _reason(value: Value) -> str:
    return value.reason or "undefined"
