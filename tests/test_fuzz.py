"""A few hundred damaged files, as scripts/fuzz makes a hundred thousand before a release."""

from pathlib import Path

import pytest
from fuzz import Task, recorded_here, run
from unbound import reason_for


@pytest.fixture(scope="session")
def two_studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fuzzed")
    assert recorded_here(root) == ["small", "drill"]
    return root


@pytest.mark.parametrize("name", ["small", "drill"])
def test_no_damaged_file_passes_a_command(two_studies: Path, name: str) -> None:
    """With the manifest in place every command refuses every one, without a traceback."""
    tally = run(Task("in place", two_studies, name, 1, 40))
    assert tally.faults == []
    assert tally.noticed.total() == tally.tried.total() == 40
    assert set(tally.runs.values()) == {40}
    assert {"replay", "analyze", "export eee", "report", "from Python"} <= tally.runs.keys()


@pytest.mark.parametrize("name", ["small", "drill"])
def test_manifests_made_anew_hide_only_what_is_listed(two_studies: Path, name: str) -> None:
    """What passes a replay is the same content, or a field with a reason; no traceback."""
    tally = run(Task("made anew", two_studies, name, 1, 150))
    assert tally.faults == []
    assert tally.noticed.total() > 100


def test_words_have_no_reason_to_differ() -> None:
    """In the present format neither a question nor an answer may change unnoticed."""
    for name in ("answer, choices.N.message.content", "answer, id", "request.body", "calls"):
        assert reason_for(2, f"cassette: {name}") == ""
    assert reason_for(2, "results.json: cells.N.n") == ""
