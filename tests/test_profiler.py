"""CognitiveProfiler, as the paper's snippet has it, on a recording."""

from pathlib import Path

import httpx
import pytest
from loopback import Loopback, json_answer

from harness import CognitiveProfiler
from harness.errors import UsageError
from harness.results import read_results
from harness.run.verdict import replay
from harness.study.folder import Study


def test_all_of_a_study_gives_the_studys_numbers(recorded: Path) -> None:
    """Without a choice the profile is what results.json says of the subject."""
    profile = CognitiveProfiler("subject-b", "small", root=recorded).run_complete_assessment()
    study = Study(recorded / "cassettes/small")
    subject = read_results(study.results)["subjects"][1]
    assert subject["subject"] == profile.model == "subject-b"
    assert profile.ci_score == pytest.approx(subject["ci"]["value"])
    assert profile.phenotype == subject["phenotype"]
    assert profile.danger_zone_pct == pytest.approx(100 * subject["danger_zone"]["value"])
    assert profile.hoc == pytest.approx(subject["hoc"]["value"])
    assert replay(study).ok


def test_a_part_of_the_grid_is_scored_on_its_own(recorded: Path) -> None:
    """Concepts go by name or id, levels by number; n says how much the numbers rest on."""
    profiler = CognitiveProfiler(model="subject-a", study="small", root=recorded)
    profile = profiler.run_complete_assessment(
        concepts=["The Harm Principle"], compression_levels=[0.0, 1.0]
    )
    assert [level.level for level in profile.metrics.levels] == [0.0, 1.0]
    assert profile.metrics.danger_zone.n == 10
    one = profiler.run_complete_assessment(compression_levels=[0.5])
    assert one.cri is None
    assert one.reasons["cri"] == "fewer than two levels"
    assert one.ci_score is None


def test_another_model_is_told_which_are_recorded(recorded: Path) -> None:
    """A model, a concept or a level without a recording names those that have one."""
    with pytest.raises(UsageError, match="subjects are subject-a, subject-b"):
        CognitiveProfiler("gpt-9", "small", root=recorded)
    profiler = CognitiveProfiler("subject-a", "small", root=recorded)
    with pytest.raises(UsageError, match=r"'Recursion' is not recorded.*harm-principle"):
        profiler.run_complete_assessment(concepts=["Recursion"])
    with pytest.raises(UsageError, match=r"0\.25 is not recorded"):
        profiler.run_complete_assessment(compression_levels=[0.25])


def test_the_notebook_reaches_the_network_again_afterwards(recorded: Path) -> None:
    """The guard is closed for the assessment only."""
    CognitiveProfiler("subject-a", "small", root=recorded).run_complete_assessment()
    with Loopback(lambda _: json_answer({"n": 1})) as server:
        assert httpx.get(server.url).json() == {"n": 1}
