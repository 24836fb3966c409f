"""TOML that a program writes, read back by the standard library."""

import datetime
import tomllib
from pathlib import Path

import pytest

from harness.bundle.toml_text import to_toml
from harness.study.study_file import StudyFile

ROOT = Path(__file__).parent.parent.parent


def test_everything_comes_back() -> None:
    """Text of every sort, numbers, dates, lists, tables in tables and in lists."""
    value = {
        "text": 'a "quoted" \\ line\nwith é, 😀, \x7f and \x01',
        "numbers": [0, 1.5, 1e-07, -3],
        "yes": True,
        "day": datetime.date(2026, 1, 31),
        "empty": {},
        "a b.c": {"x": {"y": 1}, "list": [{"in": "line", "deep": {"more": [1]}}]},
    }
    assert tomllib.loads(to_toml(value)) == value


def test_what_has_no_value_is_left_out() -> None:
    """None is no TOML; a mapping that holds nothing else is an empty table."""
    assert tomllib.loads(to_toml({"a": None, "b": {"c": None}})) == {"b": {}}
    with pytest.raises(TypeError):
        to_toml({"a": object()})


def test_a_study_file_comes_back() -> None:
    """The bundled study, through its form and back, is the same study."""
    text = (ROOT / "cassettes/ddft-local/study.toml").read_text()
    study = StudyFile.model_validate(tomllib.loads(text))
    again = tomllib.loads(to_toml(study.model_dump(exclude_defaults=True)))
    assert StudyFile.model_validate(again) == study
