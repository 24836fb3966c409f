"""A claims file with a mistake: the file, the line, what is wrong; and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main

HEAD = 'title = "mine"\nsource = "my paper"\n\n'
P_VALUE = """[claim.first]
place = "p. 1"
says = "size against score"
check = "p_value"
published = "0.5"
method = "pearson"
coefficient = "0.1"
n = 9
"""
MEAN = """[claim."second.1"]
place = "p. 2"
says = "mean score"
check = "value"
published = "0.5"
statistic = "mean"
columns = ["score"]
where = { arm = "paper" }
"""
DATA = "model,arm,score\na,paper,0.4\nb,paper,0.6\n"


def audited(tmp_path: Path, claims: str, data: str = DATA) -> tuple[int, str]:
    (tmp_path / "mine.toml").write_text(HEAD + claims)
    (tmp_path / "mine.csv").write_text(data)
    arguments = [str(tmp_path / "mine.toml"), "--data", str(tmp_path / "mine.csv")]
    done = CliRunner().invoke(main, ["audit", *arguments])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("coefficient", "coeficient", 10, "claim.first.coeficient: Extra inputs are not permitted"),
        ('"p_value"', '"p_valeu"', 7, "claim.first.check: Input should be 'value', 'p_value'"),
        ('"pearson"', '"pearsn"', 9, "claim.first.method: Input should be 'pearson'"),
        ('"0.5"', "0.50", 8, "in quotes, as printed"),
        ('"0.5"', '"about 0.5"', 8, "is no number as printed"),
        ('"0.1"', '"< 0.1"', 10, "is a bound"),
        ('"0.1"', '"1.1"', 10, "is no correlation"),
        ("n = 9", 'n = "9"', 11, "claim.first.n: Input should be a valid integer"),
        ('coefficient = "0.1"\n', "", 4, "give either coefficient and n, or two columns"),
        ('"p. 1"', '""', 5, "claim.first.place: String should have at least 1 character"),
    ],
)
def test_a_mistake_in_a_claim_has_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    """A typo, an unknown check, a number out of quotes, a wrong type, two ways at once."""
    code, output = audited(tmp_path, P_VALUE.replace(old, new, 1))
    assert code == 2
    assert f"mine.toml, line {line}: " in output
    assert words in output


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('["score"]', '["scores"]', "there is no column 'scores' in mine.csv; it has model, arm,"),
        ("{ arm =", "{ arms =", "there is no column 'arms' in mine.csv"),
        ('"paper"', '"papers"', "no row of mine.csv has {'arm': 'papers'}"),
        ('["score"]', '["model"]', "'a' in the column 'model' is no number"),
    ],
)
def test_what_the_data_have_not_has_the_claims_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    """A missing column, no fitting row, a text where a number should be."""
    code, output = audited(tmp_path, P_VALUE + "\n" + MEAN.replace(old, new, 1))
    assert code == 2
    assert "mine.toml, line 13: claim.second.1: " in output
    assert words in output


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ("", "claim: Field required"),
        ("x = [", "is not TOML"),
        (P_VALUE + P_VALUE, "is not TOML"),
        ("[[claim]]\n", "line 4: claim: Input should be a valid dictionary"),
        ("[claim]\nfirst = 3\n", "a claim is a table"),
        (P_VALUE.replace('check = "p_value"\n', ""), "claim.first.check: Field required"),
        ('rounded = ["no"]\n' + P_VALUE, "mine.toml: rounded: there is no column 'no'"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, claims: str, words: str) -> None:
    """Empty, damaged, a claim twice, a list of claims, no check, an unknown rounded column."""
    code, output = audited(tmp_path, claims)
    assert (code, words in output) == (2, True), output


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('check = "value"\npublished = "1"', "either statistic and columns, or at, or missing"),
        (
            'check = "value"\npublished = "1"\nstatistic = "pearson"\ncolumns = ["a"]',
            "takes two columns",
        ),
        (
            'check = "value"\npublished = "null"\nstatistic = "mean"\ncolumns = ["a"]',
            "goes with at",
        ),
        (
            'check = "value"\npublished = "1"\nstatistic = "mean"\n'
            'columns = [{ of = "a", minus = { b = "c" } }]',
            "minus needs per",
        ),
        ('check = "interval"\npublished = "1"\nk = 3\nn = 2', "3 of 2 is no share"),
        ('check = "interval"\npublished = ["2", "1"]\nk = 1\nn = 2', "lower end comes first"),
        (
            'check = "moment_bound"\npublished = "1"\nmean = ["0.4", "1.2"]',
            "outside the scale",
        ),
        ('check = "moment_bound"\npublished = "1"\nscale = ["1", "1"]', "lower end of the scale"),
        ('check = "dispersion_label"\npublished = "1"\nlabel = "sd"\ncolumns = ["a"]', "per:"),
        (
            'check = "label_rule"\npublished = "A"\nvalue = "1"\nabove = { A = "2" }',
            "above and otherwise go together",
        ),
        (
            'check = "p_value"\npublished = "1"\nmethod = "spearman"\ncoefficient = "0.5"\n'
            'n = 5\nfamily = ["0.4"]',
            "the coefficient is not among them",
        ),
        ('check = "arithmetic"\npublished = "1"\nexpression = "2 ** 3"', "is not of numbers"),
    ],
)
def test_keys_that_do_not_go_together_are_refused(tmp_path: Path, keys: str, words: str) -> None:
    """With the claim's line, and what would."""
    code, output = audited(tmp_path, f'[claim.first]\nplace = "p. 1"\nsays = "so"\n{keys}\n')
    assert code == 2
    assert "mine.toml, line " in output
    assert words in output


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("", "is empty"),
        ("a,b\n\n1\n", "line 3: 1 cells, not 2"),
        ("a,a\n1,2\n", "a column name stands twice"),
        ("score,arm\n\n", "no row of"),
    ],
)
def test_data_that_are_none_are_refused(tmp_path: Path, data: str, words: str) -> None:
    """An empty file, a ragged row, the same column twice, a header alone."""
    code, output = audited(tmp_path, MEAN, data)
    assert (code, words in output) == (2, True), output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nosuch"], "there is no such claims file; bundled are ddft, ddft-local"),
        (["ddft", "--data", "nosuch.csv"], "nosuch.csv: cannot be read"),
        (["ddft", "--data", "nosuch.json"], "nosuch.json: there is no such file"),
    ],
)
def test_a_file_that_is_not_there_is_named(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claims file with the bundled names, the data with their path."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["audit", *arguments])
    assert (done.exit_code, words in done.output) == (2, True), done.output
