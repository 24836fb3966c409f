"""A DDFT study made up by a seeded generator: no recording, any size."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.protocols.ddft.analysis.analyze import analyze
from harness.protocols.ddft.analysis.schema import Analysis, Facts
from harness.protocols.ddft.dialogue.jury import consensus
from harness.protocols.ddft.metrics.scoring import MetricRules, score_study
from harness.results import CellKey, CellResult, Score, Turn, Usage

RULES = MetricRules(0.70, "max", "undefined", "clip", "pooled", 0.5, 0.5, 0.05)
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Made(NamedTuple):
    """A made-up study: what `analyze` takes."""

    cells: list[CellResult]
    rules: MetricRules
    facts: dict[str, Facts]
    domains: dict[str, str]
    planned: int

    def analysis(self, seed: int = 42) -> Analysis:
        subjects = score_study("made", 1, self.cells, self.planned, self.rules).subjects
        return analyze(self.cells, subjects, self.rules, self.facts, self.domains, seed)


def study(
    subjects: int = 9,
    concepts: int = 8,
    levels: Sequence[float] = LEVELS,
    judges: int = 3,
    repeats: int = 1,
    arms: Sequence[str] = ("paper",),
    missing: float = 0.0,
    rules: MetricRules = RULES,
    seed: int = 7,
) -> Made:
    """Make a study; better subjects fall later and believe less, and every judge errs."""
    random = np.random.default_rng(seed)
    names = [f"subject-{i}" for i in range(subjects)]
    grid = [
        CellKey(name, f"concept-{j}", level, arm, repeat)
        for name in names
        for j in range(concepts)
        for level in levels
        for arm in arms
        for repeat in range(1, repeats + 1)
    ]
    cells = [_cell(key, subjects, judges, missing, random) for key in grid]
    return Made(cells, rules, _facts(names), _domains(concepts), concepts * len(levels) * repeats)


def one_turn(number: int, scores: dict[str, Score]) -> Turn:
    n_judges, far, sas = consensus(list(scores.values()))
    return Turn(number, "interviewer", "ok", scores, n_judges, far, sas)


def _cell(
    key: CellKey, subjects: int, judges: int, missing: float, random: np.random.Generator
) -> CellResult:
    ability = 0.5 + 0.45 * int(key.subject.removeprefix("subject-")) / max(1, subjects - 1)
    turns = []
    for number in range(1, 6):
        trap = 0.25 if number == 4 else 0.05
        far = ability + 0.25 - 0.3 * key.level + trap * random.normal()
        sas = 0.65 + 0.3 * ability - 0.2 * key.level + 0.15 * random.normal()
        scores = {f"judge-{judge}": _score(far, sas, missing, random) for judge in range(judges)}
        turns.append(one_turn(number, scores))
    usage = {key.subject: Usage(5, 500, 600), "judge-0": Usage(5, 1000, 100, 1)}
    kin = ["judge-0"] if key.subject == "subject-0" else []
    return CellResult(key, 100, "interviewer", turns, {}, usage, kin)


def _score(far: float, sas: float, missing: float, random: np.random.Generator) -> Score:
    noise = random.normal(scale=0.1, size=2)
    if random.random() < missing:
        return Score(None, None, "prose", 2)
    f, s = (
        round(float(min(1, max(0, x + e))) * 20) / 20
        for x, e in zip((far, sas), noise, strict=True)
    )
    return Score(f, s, "ok", 1)


def _facts(names: Sequence[str]) -> dict[str, Facts]:
    sizes = (8.0, 14.0, 14.0, 17.0, 25.0, 45.0, 120.0, 175.0, 314.0)
    return {
        name: Facts(
            parameters_b=sizes[place % 9],
            reasoning=place % 3 == 0,
            outside={"mmlu": 80.0 + place * 7 % 11} if place % 3 else {},
        )
        for place, name in enumerate(names)
    }


def _domains(concepts: int) -> dict[str, str]:
    return {f"concept-{j}": f"domain-{j}" for j in range(concepts)}
