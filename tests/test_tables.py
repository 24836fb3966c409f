"""A table is made once and shown in words, as Markdown, on a terminal and as CSV."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from harness.cli.tables import show_markdown, show_tables
from harness.results import Interval, Share, Value
from harness.results.csv_table import csv_rows
from harness.results.table import EstimatedValue, Noted, Table, TableColumn, columns
from harness.results.text_table import text_table

NO_LEVEL = Value(None, 0, "no level passes")
HOC = Value(0.25, 5)
OVER_CONCEPTS = Interval(0.1, 0.2)
CI = EstimatedValue(Value(0.5, 30), Interval(0.4, 0.6))


def table(*rows: Any) -> Table:
    """Return a table with a column of each kind."""
    names = columns(
        "subject",
        TableColumn("HOC", Value),
        TableColumn("CI raw", EstimatedValue),
        TableColumn("95% over concepts", Interval, key="over_concepts"),
        TableColumn("right", Share),
        TableColumn("calls", int),
        TableColumn("theta", float),
    )
    return Table("Subjects", names, rows)


def row(name: str, hoc: Value = NO_LEVEL, ci: Any = CI, interval: Any = None) -> list[Any]:
    """Return a row of that table."""
    return [name, hoc, ci, interval, Share("", 9, Value(0.9, 10)), 1234, 0.8]


def test_words_have_n_and_a_reason_stands_once_below() -> None:
    """A reason that two cells share is one note; a value has its n, a share its count."""
    noted = Noted(Interval(0.1, 0.2), "over 9 of 10 resamples")
    rows = [row("a", interval=noted), row("b", ci=NO_LEVEL), row("c", HOC)]
    shown = text_table(table(*rows))
    assert shown.rows[0] == (
        *("a", "undefined [1]", "0.500 [0.400, 0.600]", "[0.100, 0.200] [2]"),
        *("0.900 (9 of 10)", "1,234", "0.8"),
    )
    assert shown.rows[1][1:4] == ("undefined [1]", "undefined [1]", "")
    assert shown.rows[2][1] == "0.250 (n=5)"
    assert shown.notes == ["no level passes", "over 9 of 10 resamples"]


def test_n_stands_once_where_all_numbers_have_it() -> None:
    """Above the column where two or more have the same; beside each where they differ."""
    assert names(table(row("a"), row("b")))[1] == "CI raw (n=30)"
    shown = table(row("a"), row("b", ci=Value(0.1, 7)))
    assert names(shown)[1] == "CI raw"
    assert text_table(shown).rows[1][1] == "0.100 (n=7)"
    assert names(table(row("a")))[1] == "CI raw"


def test_a_column_without_a_number_is_named_with_its_reason() -> None:
    """It takes no room; of a table that has no other number, one sentence is left."""
    shown = text_table(table(row("a"), row("b")))
    assert [column.name for column in shown.columns] == [
        *("subject", "CI raw (n=30)", "right", "calls", "theta")
    ]
    assert shown.undefined == "Undefined, and not shown: HOC (no level passes)."
    assert shown.notes == []
    bare = Table("HOC", columns("subject", TableColumn("HOC", Value)), [["a", NO_LEVEL]])
    shown = text_table(bare)
    assert (shown.columns, shown.rows, shown.empty) == ([], [], "")
    assert shown.undefined == "Nothing in this table is defined: no level passes."
    in_words = dataclasses.replace(bare, has_findings_in_words=True)
    assert text_table(in_words).rows == [("a",)]


def test_a_table_without_rows_says_why() -> None:
    """Or that there are none."""
    assert text_table(Table("HOC", columns("subject"), [])).empty == "None."
    empty = Table("HOC", columns("subject"), [], empty="There is no subject.")
    assert text_table(empty).empty == "There is no subject."


def names(shown: Table) -> list[str]:
    """Return the names of the columns that a reader sees."""
    return [column.name for column in text_table(shown).columns]


def test_a_number_keeps_its_mark_and_says_why_it_has_no_interval() -> None:
    """A lower bound is marked; an estimate without an interval has a note on that."""
    ci = EstimatedValue(Value(4.25, 2), Interval(None, None, reason="one branch"), "+")
    shown = text_table(table(row("a", HOC, ci=ci)))
    assert shown.rows[0][2] == "4.250+ (n=2) without interval [1]"
    assert shown.notes == ["one branch"]


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
    """What has no room goes on below, beside the row's name once more; no word is broken."""
    monkeypatch.setenv("COLUMNS", "80")
    rows = [row("a-model-with-a-name", interval=OVER_CONCEPTS), row("another-model", HOC)]
    show_tables([table(*rows)])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("a-model-with-a-name" in line for line in lines) == 2
    for words in ("0.500 [0.400, 0.600]", "0.900 (9 of 10)", "1,234", "[1] no level passes"):
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
    show_markdown([table(row("a|b\nc"), row("d", HOC))])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "### Subjects"
    assert lines[4].startswith("| a\\|b c | undefined [1] |")
    assert "- [1] no level passes" in lines


def test_rows_that_share_their_first_words_are_told_apart_below(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the first column does not name a row, those after it are repeated as well."""
    monkeypatch.setenv("COLUMNS", "60")
    names = columns("role", "model", *(TableColumn(f"{'calls' * 3} {n}", int) for n in range(6)))
    rows = [["judge", name, *range(6)] for name in ("first-model", "second-model")]
    show_tables([Table("Replies", names, rows)])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    of_models = [line for line in lines if line.startswith("judge")]
    assert len(of_models) == 2 * 3  # in three blocks
    assert all("-model" in line for line in of_models)


def test_a_number_with_its_interval_stays_on_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However narrow the terminal, and however long the names beside it."""
    monkeypatch.setenv("COLUMNS", "80")
    names = columns("run", TableColumn("EVD", EstimatedValue), TableColumn("accuracy", Value))
    runs: list[list[Any]] = [
        [
            "a-run-with-a-long-name--medicine--r1",
            EstimatedValue(Value(1.5, n), Interval(0.4, 2)),
            HOC,
        ]
        for n in (19, 1234)
    ]
    show_tables([Table("Runs", names, runs)])
    output = capsys.readouterr().out
    assert "1.500 (n=19) [0.400, 2.000]" in output
    assert "1.500 (n=1,234) [0.400, 2.000]" in output
