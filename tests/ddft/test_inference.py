"""What numbers show: levels beside theta, CI on both sides, predictions in three words."""

import numpy as np
import pytest

from harness.protocols.ddft.analysis import tested
from harness.protocols.ddft.analysis.evaluations import Evaluation
from harness.protocols.ddft.analysis.levels import NOT_TOLD_APART, subject_inference
from harness.protocols.ddft.metrics.scoring import MetricRules

RULES = MetricRules(0.7, "max", "undefined", "clip", "pooled", 0.5, 0.5, 0.05)
LEVELS = (0.0, 0.5, 1.0)


def rows(means: tuple[float, ...], concepts: int = 8, seed: int = 1) -> list[Evaluation]:
    """Return a subject's evaluations around these means, five turns a dialogue."""
    draws = np.random.default_rng(seed)
    return [
        Evaluation(
            "subject",
            f"concept-{concept}",
            level,
            1,
            turn,
            float(np.clip(mean + draws.normal(0, 0.05), 0, 1)),
            float(np.clip(0.6 + draws.normal(0, 0.2), 0, 1)),
        )
        for concept in range(concepts)
        for level, mean in zip(LEVELS, means, strict=True)
        for turn in range(1, 6)
    ]


def test_levels_far_from_theta_leave_one_hoc() -> None:
    """A level that passes and one that fails are sure, and CI has one side."""
    shown = subject_inference("subject", rows((0.9, 0.85, 0.3)), RULES)
    assert [level.near_theta for level in shown.levels] == [False] * 3
    assert [(level.confidence.value or 0) > 0.99 for level in shown.levels] == [True, True, False]
    assert [side.hoc for side in shown.sides] == [0.5]
    assert shown.sides[0].ci_raw.low is not None
    assert shown.fall_class == "degrader"


def test_a_level_at_theta_gives_both_sides() -> None:
    """Where theta lies within a level's interval, CI is given with it and without."""
    shown = subject_inference("subject", rows((0.9, 0.9, 0.7)), RULES)
    assert [level.near_theta for level in shown.levels] == [False, False, True]
    assert [side.hoc for side in shown.sides] == [0.5, 1.0]
    assert shown.phenotypes == ["Brittle", "Competent"]


def test_three_concepts_show_nothing() -> None:
    """Below four concepts no level has a confidence, and CI has no interval."""
    shown = subject_inference("subject", rows((0.9, 0.7, 0.3), concepts=3), RULES)
    assert {level.confidence.reason for level in shown.levels} == {
        "3 concepts, at least 4 are needed"
    }
    assert shown.sides == []
    assert shown.fall_class is None


def test_a_fall_about_the_cut_is_not_told_apart() -> None:
    """The class needs an interval that leaves the cut out."""
    shown = subject_inference("subject", rows((0.5, 0.5, 0.45)), RULES)
    assert shown.fall_class == NOT_TOLD_APART


@pytest.mark.parametrize(
    ("shift", "verdict"), [(0.3, "supported"), (-0.3, "contradicted"), (0.0, "not shown")]
)
def test_cognitive_load_is_told_by_its_interval(shift: float, verdict: str) -> None:
    """Above 0 it is supported, below contradicted, around it not shown, with what could be."""
    falls = np.random.default_rng(2).normal(0, 0.05, (6, 8))
    found = tested.cognitive_load((falls - falls.mean() + shift).tolist())
    assert found.verdict == verdict
    assert found.could_show.startswith("a difference beyond")


@pytest.mark.parametrize(
    ("spread", "noise", "verdict"),
    [(0.0, 0.005, "supported"), (0.3, 0.005, "contradicted"), (0.0, 0.2, "not shown")],
)
def test_equal_domains_need_equivalence(spread: float, noise: float, verdict: str) -> None:
    """No difference found is not shown; within the bound it is supported."""
    draws = np.random.default_rng(3)
    table = 0.5 + spread * np.arange(4) + draws.normal(0, noise, (9, 4))
    assert tested.domain_general(table.tolist()).verdict == verdict
    assert tested.domain_general(table[:3].tolist()).verdict == "not shown"
