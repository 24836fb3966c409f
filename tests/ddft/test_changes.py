"""What changed between two sets of dialogues: metrics resampled in pairs, and parts swapped."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from synthetic import RULES, Made, study

from harness.protocols.ddft.analysis.attribution import PARTS, Swap, swaps
from harness.protocols.ddft.analysis.paired import changes, intervals
from harness.protocols.ddft.metrics import scoreboard as board
from harness.protocols.ddft.metrics.formulas import phenotype
from harness.protocols.ddft.metrics.scoring import MetricRules, score_study, subject_metrics
from harness.results import CellResult, Results, Value
from harness.stats.seeds import seeded

FIELDS = {
    board.HOC.id: "hoc",
    board.CRI.id: "cri",
    board.FAR_PRIME.id: "far_prime",
    board.SAS_PRIME.id: "sas_prime",
    board.CI_RAW.id: "ci_raw",
    board.DANGER.id: "danger_zone",
}


def of_one(made: Made, subject: str = "subject-4") -> list[CellResult]:
    return sorted((c for c in made.cells if c.cell.subject == subject), key=lambda c: c.cell)


def before_and_after() -> tuple[list[CellResult], list[CellResult]]:
    return of_one(study(missing=0.05, seed=1)), of_one(study(missing=0.05, seed=2))


def drawn_cells(cells: list[CellResult], drawn: list[np.ndarray], row: int) -> list[CellResult]:
    """Give the cells of one resample, those drawn twice twice."""
    levels = sorted({cell.cell.level for cell in cells})
    found = []
    for level, draws in zip(levels, drawn, strict=True):
        here = [cell for cell in cells if cell.cell.level == level]
        found += [here[place] for place in draws[row]]
    return found


def number(value: Value) -> float:
    return np.nan if value.value is None else value.value


@pytest.mark.parametrize(
    "other",
    [
        RULES,
        RULES._replace(theta=0.8, hoc_rule="onset", empty_far_prime="zero"),
        RULES._replace(incoherent_below=0.7, factual_above=0.4),
    ],
)
def test_every_resample_is_what_the_scoring_gives(other: MetricRules) -> None:
    """Each metric's change over drawn cells equals the metrics' own functions, by both rules."""
    before, after = before_and_after()
    generator = seeded(3, "test")
    drawn = [generator.integers(0, 8, size=(30, 8)) for _ in range(5)]
    found = changes((before, RULES), (after, other), drawn)
    for row in range(30):
        [old] = subject_metrics(drawn_cells(before, drawn, row), 0, RULES)
        [new] = subject_metrics(drawn_cells(after, drawn, row), 0, other)
        for name, field in FIELDS.items():
            expected = number(getattr(new, field)) - number(getattr(old, field))
            assert found[name][row] == pytest.approx(expected, abs=1e-9, nan_ok=True), name


def test_concepts_averaged_first_are_so_here_too() -> None:
    """Every cell drawn once gives the metrics of the study itself, by its own aggregation."""
    before, after = before_and_after()
    rules = RULES._replace(aggregation="by_concept")
    once = [np.arange(8)[None, :] for _ in range(5)]
    found = changes((before, rules), (after, rules), once)
    [old], [new] = (subject_metrics(cells, 0, rules) for cells in (before, after))
    for name, field in FIELDS.items():
        expected = number(getattr(new, field)) - number(getattr(old, field))
        assert found[name][0] == pytest.approx(expected, abs=1e-9, nan_ok=True), name


def test_the_same_recording_has_no_change_in_any_resample() -> None:
    """Both sides draw the same cells: an interval from 0 to 0, not one around it."""
    cells = of_one(study())
    for interval in intervals((cells, RULES), (cells, RULES), seeded(1, "x")).values():
        assert (interval.low, interval.high) in ((0.0, 0.0), (None, None))


def test_a_change_of_every_answer_is_found() -> None:
    """FAR raised by 0.1 everywhere: its interval is 0.1 and nothing else."""
    before = of_one(study())
    after = [
        msgspec.structs.replace(
            cell,
            turns=[
                msgspec.structs.replace(t, far=None if t.far is None else t.far + 0.1)
                for t in cell.turns
            ],
        )
        for cell in before
    ]
    found = intervals((before, RULES), (after, RULES), seeded(1, "x"))[board.FAR.id]
    assert found.low == pytest.approx(0.1)
    assert found.high == pytest.approx(0.1)


def test_too_few_cells_at_a_level_give_no_interval() -> None:
    """Three concepts are three cells at each level, and four are needed."""
    cells = of_one(study(concepts=3))
    found = intervals((cells, RULES), (cells, RULES), seeded(1, "x"))
    assert {interval.reason for interval in found.values()} == {
        "3 cells at a level, at least 4 are needed"
    }


def results(seed: int, rules: MetricRules = RULES) -> Results:
    made = study(subjects=4, seed=seed)
    return score_study("made", 1, made.cells, made.planned, rules)


def of(found: list[Swap], subject: str, part: str) -> Swap:
    return next(one for one in found if (one.subject, one.part) == (subject, part))


@pytest.mark.parametrize("rule", ["clip", "max", "minmax"])
def test_nothing_and_everything_are_the_two_recordings(rule: str) -> None:
    """The ends of the table are what either study says of each subject, by its own rule."""
    before, after = results(1, RULES._replace(normalization=rule)), results(2)
    found = swaps(before, after)
    for old, new in zip(before.subjects, after.subjects, strict=True):
        first, last = (of(found, old.subject, part) for part in ("nothing", "everything"))
        assert (first.ci, first.phenotype, first.changes) == (old.ci, old.phenotype, False)
        assert (last.ci, last.phenotype) == (new.ci, new.phenotype)
        assert last.changes == (new.phenotype != old.phenotype)


def test_one_part_alone_explains_a_change_it_made() -> None:
    """HOC halved and nothing else: only taking HOC over gives the other CI."""
    before = results(1)
    after = msgspec.convert(msgspec.to_builtins(before), Results)
    part, old = after.subjects[3], before.subjects[3]
    assert old.ci_raw.value
    assert old.hoc.value
    factor = 0.5
    part.hoc = Value(old.hoc.value * factor, old.hoc.n)
    part.ci_raw = Value(old.ci_raw.value * factor, old.ci_raw.n)
    part.ci = Value(min(1.0, part.ci_raw.value or 0.0), part.ci_raw.n)
    part.phenotype = phenotype(part.ci.value)
    found = swaps(before, after)
    for name in PARTS:
        swap = of(found, part.subject, name)
        wanted = part.ci if name == "HOC" else old.ci
        assert swap.ci.value == pytest.approx(wanted.value)


def test_another_rule_of_normalization_is_a_part_of_its_own() -> None:
    """The same answers under another rule: only normalization moves CI."""
    before, after = results(1), results(1, RULES._replace(normalization="max"))
    found = swaps(before, after)
    for old, new in zip(before.subjects, after.subjects, strict=True):
        assert of(found, old.subject, "HOC").ci == old.ci
        assert of(found, old.subject, "normalization").ci == new.ci
