"""JSON of ours is read strictly: what parsers differ about is damage, with its file and place."""

from pathlib import Path

import pytest

from harness.errors import DamagedFile
from harness.json_files import plain


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
