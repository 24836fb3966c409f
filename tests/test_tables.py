"""A table is made once and shown in words, as Markdown, on a terminal and as CSV."""

from __future__ import annotations

from typing import Any

import pytest

from harness.cli.tables import show_markdown, show_tables
from harness.results import Interval, Share, Value
from harness.results.csv_table import csv_rows
from harness.results.table import Column, Estimate, Noted, Table, columns
from harness.results.text_table import text_table

NO_LEVEL = Value(None, 0, "no level passes")
CI = Estimate(Value(0.5, 30), Interval(0.4, 0.6))


def table(*rows: Any) -> Table:
    """Return a table with a column of each kind."""
    names = columns(
        "subject",
        Column("HOC", Value),
        Column("CI raw", Estimate),
        Column("95% over concepts", Interval, key="over_concepts"),
        Column("right", Share),
        Column("calls", int),
        Column("theta", float),
    )
    return Table("Subjects", names, rows)


def row(name: str, hoc: Value = NO_LEVEL, ci: Any = CI, interval: Any = None) -> list[Any]:
    """Return a row of that table."""
    return [name, hoc, ci, interval, Share("", 9, Value(0.9, 10)), 1234, 0.8]


def test_words_have_n_and_a_reason_stands_once_below() -> None:
    """A reason that two cells share is one note; a value has its n, a share its count."""
    noted = Noted(Interval(0.1, 0.2), "over 9 of 10 resamples")
    shown = text_table(table(row("a", interval=noted), row("b", ci=NO_LEVEL)))
    assert shown.rows[0] == [
        *("a", "null [1]", "0.500 (n=30) [0.400, 0.600]", "[0.100, 0.200] [2]"),
        *("0.900 (9 of 10)", "1,234", "0.8"),
    ]
    assert shown.rows[1][2:4] == ["null [1]", ""]
    assert shown.notes == ["no level passes", "over 9 of 10 resamples"]


def test_a_number_keeps_its_mark_and_says_why_it_has_no_interval() -> None:
    """A lower bound is marked; an estimate without an interval has a note on that."""
    ci = Estimate(Value(4.25, 2), Interval(None, None, reason="one branch"), "+")
    shown = text_table(table(row("a", ci=ci)))
    assert shown.rows[0][2] == "4.250+ (n=2) without interval [2]"
    assert shown.notes[1] == "one branch"


def test_csv_has_value_n_low_high_and_reason_as_columns() -> None:
    """Numbers are numbers, what is null is empty, and nothing is silent."""
    noted = Noted(Interval(0.1, 0.2), "over 9 of 10 resamples")
    header, first, second = csv_rows(table(row("a", interval=noted), row("b", ci=NO_LEVEL)))
    assert header == [
        *("subject", "hoc", "hoc_n", "hoc_reason"),
        *("ci_raw", "ci_raw_n", "ci_raw_low", "ci_raw_high", "ci_raw_reason"),
        *("over_concepts_low", "over_concepts_high", "over_concepts_reason"),
        *("right", "right_count", "right_n", "right_reason", "calls", "theta"),
    ]
    by_name = dict(zip(header, first, strict=True))
    assert [by_name[name] for name in ("hoc", "hoc_n", "hoc_reason")] == ["", 0, "no level passes"]
    assert (by_name["ci_raw"], by_name["ci_raw_low"], by_name["ci_raw_high"]) == (0.5, 0.4, 0.6)
    assert by_name["over_concepts_reason"] == "over 9 of 10 resamples"
    assert (by_name["right"], by_name["right_count"], by_name["calls"]) == (0.9, 9, 1234)
    assert dict(zip(header, second, strict=True))["ci_raw_reason"] == "no level passes"


def test_a_row_that_does_not_fit_its_columns_is_a_fault_of_the_program() -> None:
    """A text in a column of values would reach CSV as a number that is none."""
    with pytest.raises(TypeError, match="HOC"):
        table(["a", "0.771 (n=5)", CI, None, None, 1, 0.8])
    with pytest.raises(TypeError, match="2 cells, 7 columns"):
        table(["a", NO_LEVEL])


def test_a_table_fits_80_columns_and_says_everything(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has no room goes on below, beside the first column once more; no word is broken."""
    monkeypatch.setenv("COLUMNS", "80")
    show_tables([table(row("a-model-with-a-name"), row("another-model"))])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("a-model-with-a-name" in line for line in lines) == 2
    for words in ("0.500 (n=30) [0.400, 0.600]", "0.900 (9 of 10)", "1,234", "[1] no level passes"):
        assert any(words in line for line in lines)


def test_a_pipe_gets_a_row_as_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal nothing is cut to a width, so that grep and awk find whole rows."""
    monkeypatch.delenv("COLUMNS", raising=False)
    show_tables([table(row("a " * 40))])
    [line] = [line for line in capsys.readouterr().out.splitlines() if "a a" in line]
    assert "1,234" in line


def test_markdown_keeps_to_its_cells(capsys: pytest.CaptureFixture[str]) -> None:
    """What a model is called breaks no table."""
    show_markdown([table(row("a|b\nc"))])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "### Subjects"
    assert lines[4].startswith("| a\\|b c | null [1] |")
    assert "- [1] no level passes" in lines
