"""Damage behind new manifests is a verdict of exit code 1, never a traceback."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.errors import DamagedFile
from harness.recording import checksums
from harness.results import read_materials

CASSETTE = "subject-a--harm-principle--c0--paper--r1.json"


def replaced(root: Path, name: str, old: str, new: str) -> Result:
    """Change a file of the recorded study, make the manifests anew, and run `harness replay`."""
    path = root / "cassettes/small" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    checksums.write_manifests(root, root / "cassettes/small")
    return CliRunner().invoke(main, ["replay", "small", "--verify-checksums", "--root", str(root)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"n": ', f'"n": {"9" * 400}, "was": '),
        ('"n": ', f'"n": {"[" * 3000}{"]" * 3000}, "was": '),
        ('"valid": true', '"valid": false, "valid": true'),
        ('"n": ', '"extra": "(absent)", "n": '),
        ('"n": ', '"extra": "nothing", "n": '),
        ('"subject": "subject-a"', '"subject": 5'),
        ('"concept": "harm-principle"', '"concept": ["harm-principle"]'),
        ('"repeat": 1', '"repeat": {}'),
    ],
)
def test_damaged_results_are_a_verdict(recorded: Path, old: str, new: str) -> None:
    """A number, a depth, a second value, an unknown key, a wrong type: exit 1, no traceback."""
    done = replaced(recorded, "results.json", old, new)
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert len(done.output) < 3000


def test_a_schema_that_is_no_json_is_damage(recorded: Path) -> None:
    """The message names the prompt, before anything is asked with it."""
    done = replaced(recorded, "materials.json", 'schema": "{', 'schema": "x')
    assert done.exit_code == 1
    assert "prompts.judge_schema is no JSON schema" in done.output
    with pytest.raises(DamagedFile):
        read_materials(recorded / "cassettes/small/materials.json")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Content-Type":', '"content-encoding":["gzip"],"Content-Type":'),
        ('\\"prompt_tokens\\": ', f'\\"prompt_tokens\\": {"9" * 400}, \\"was\\": '),
        ('\\"prompt_tokens\\": ', '\\"prompt_tokens\\": -1, \\"was\\": '),
        ('"string":"{', f'"string":"{"[" * 5000}{"]" * 5000}'),
        ('\\"choices\\": ', f'\\"choices\\": {"[" * 5000}{"]" * 5000}, \\"was\\": '),
    ],
    ids=["gzip that is none", "400 digits", "below nothing", "a deep body", "deep choices"],
)
def test_a_damaged_answer_is_a_verdict(recorded: Path, old: str, new: str) -> None:
    """Whatever stands in an answer, the cell is named or the numbers differ."""
    done = replaced(recorded, CASSETTE, old, new)
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert "FAILED" in done.output
