"""JSON of ours is read strictly: what parsers differ about is damage, with its file and place."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.errors import DamagedFile
from harness.json_files import plain
from harness.recording import checksums
from harness.results import read_materials


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1, "a": 1}', "the key 'a' stands twice in one object"),
        ('{"a": [{"b": 1, "c": 2, "b": 3}]}', "the key 'b' stands twice in one object"),
        ('{"a": 1, "\\u0061": 1}', "the key 'a' stands twice in one object"),
        (f'{{"n": {"9" * 400}}}', "a whole number of 400 digits"),
        (f'{{"n": {"9" * 5000}}}', "out of range"),
        ('{"n": 1e999}', "out of range"),
        ('{"n": NaN}', "malformed"),
        ("[" * 3000 + "]" * 3000, "nested too deeply"),
        ("\ufeff{}", "malformed"),
        ("", "truncated"),
    ],
)
def test_json_that_parsers_differ_about_is_damage(tmp_path: Path, text: str, words: str) -> None:
    """The error names the file, what is wrong with it and what to do."""
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(DamagedFile) as damaged:
        plain(path, "Restore it.")
    message = str(damaged.value)
    assert message.startswith(f"{path}: is damaged (")
    assert words in message
    assert message.endswith("Restore it.")


def test_keys_of_different_objects_may_be_alike(tmp_path: Path) -> None:
    """Only within one object is a key's second value damage; 64 bits with a sign are read."""
    path = tmp_path / "results.json"
    path.write_text('{"a": {"a": -9223372036854775808}, "b": {"a": 2}}')
    assert plain(path, "") == {"a": {"a": -(2**63)}, "b": {"a": 2}}


def replaced(root: Path, name: str, old: str, new: str) -> Any:
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
