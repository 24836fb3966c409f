"""A claims file with a mistake: the file, the line, what is wrong; and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main

OTHER = """says = "so"
check = "restated"
published = "1"
elsewhere = { there = "1" }
"""
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
DATA = "model,arm,score,big,many\na,paper,0.4,1e400,1e99999999999999999999\nb,paper,0.6,1,2\n"
SPELLINGS = [
    ("[claim.'first'] # one\nKEYS", 4),
    ('["claim" . "first"]\nKEYS', 4),
    ("[claim]\nfirst = { KEYS }\n", 5),
    ("claim.first = { KEYS }\n", 4),
    ("\n[claim]\n\n'first' = { KEYS }\n", 7),
    ("# [claim.first]\n[claim.first]\nKEYS", 5),
    (f'[claim.other]\nplace = """\n[claim.first]\nn = 3"""\n{OTHER}[claim.first]\nKEYS', 12),
    (f"[claim.other]\nplace = '''\n[claim.first]\n'''\n{OTHER}[claim.first]\nKEYS", 12),
]


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
        ('"0.5"', '"about 0.5"', 8, "is not a number as printed"),
        ('"0.1"', '"< 0.1"', 10, "is a bound"),
        ('"0.1"', '"1.1"', 10, "is no correlation"),
        ("n = 9", 'n = "9"', 11, "claim.first.n: Input should be a valid integer"),
        ('coefficient = "0.1"\n', "", 4, "give either coefficient and n, or two columns"),
        ("n = 9\n", "", 4, "give either coefficient and n, or two columns"),
        ('place = "p. 1"\n', "", 4, "claim.first.place: Field required"),
        ('check = "p_value"\n', "", 4, "claim.first.check: Field required"),
        (
            '"pearson"\ncoefficient = "0.1"\nn = 9',
            '"kendall"\ncoefficient = "0.1"\nn = 1',
            4,
            "n: ken",
        ),
        ("n = 9", "n = 1000000000001", 11, "less than or equal to 1000000000000"),
        ('"0.5"', '"1e400"', 8, "1e400 is out of bounds: expected less than 1e100"),
        ('"0.5"', '"1e99999999999999999999"', 8, "is out of bounds"),
        ('"0.5"', '"1e-400"', 8, "at most 300 decimals"),
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
        (
            '["score"]',
            '["scores"]',
            "there is no column 'scores' in mine.csv; it has model, arm, score",
        ),
        ("{ arm =", "{ arms =", "there is no column 'arms' in mine.csv"),
        ('"paper"', '"papers"', "no row of mine.csv has {'arm': 'papers'}"),
        ('["score"]', '["model"]', "'a' in the column 'model' is no number"),
        ('["score"]', '["big"]', "'1e400' in the column 'big' is no number, or none below 1e100"),
        ('["score"]', '["many"]', "is no number, or none below"),
    ],
)
def test_what_the_data_have_not_has_the_claims_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    """A missing column, no fitting row, a text or too large a number where one should be."""
    code, output = audited(tmp_path, P_VALUE + "\n" + MEAN.replace(old, new, 1))
    assert code == 2
    assert "mine.toml, line 13: claim.second.1: " in output
    assert words in output


@pytest.mark.parametrize(("spelled", "line"), SPELLINGS)
@pytest.mark.parametrize("fault", ["form", "data"])
def test_however_a_claim_is_spelled_it_has_its_line(
    tmp_path: Path, spelled: str, line: int, fault: str
) -> None:
    """Quotes, comments, inline tables, look-alikes in texts: for both kinds of mistake."""
    keys = MEAN.splitlines()[1:] if fault == "data" else MEAN.splitlines()[2:]
    inline = ", " if "{ KEYS" in spelled else "\n"
    claims = spelled.replace("KEYS", inline.join(keys).replace('["score"]', '["scores"]'))
    code, output = audited(tmp_path, claims)
    wrong = "there is no column" if fault == "data" else "place: Field required"
    assert code == 2
    assert f"mine.toml, line {line}: claim.first" in output
    assert wrong in output


def test_a_key_of_a_list_has_the_line_of_its_entry(tmp_path: Path) -> None:
    """The second of three tables of one name, and of tables within those."""
    inner = '[[claim.first.columns]]\nof = "score"\n'
    head = MEAN.replace('"second.1"', "first").replace('columns = ["score"]\n', "")
    code, output = audited(tmp_path, f"{head}{inner}{inner.replace('of', 'off')}{inner}")
    assert code == 2
    assert "mine.toml, line 14: claim.first.columns.1.off: Extra inputs" in output
    assert "mine.toml, line 13: claim.first.columns.1.of: Field required" in output


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ("", "mine.toml: claim: Field required"),
        ("x = [", "is not TOML"),
        (P_VALUE + P_VALUE, "is not TOML"),
        ("[[claim]]\n", "line 4: claim: Input should be a valid dictionary"),
        ("[claim]\nfirst = 3\n", "a claim is a table"),
        (P_VALUE.replace('check = "p_value"\n', ""), "claim.first.check: Field required"),
        ('rounded = ["no"]\n' + P_VALUE, "mine.toml, line 4: rounded: there is no column 'no'"),
        (f"x = {'[' * 100_000}", "is not TOML"),
        (f"x = {'9' * 5000}", "is not TOML"),
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
        ('check = "interval"\npublished = "1"\nk = 3\nn = 2', "k: 3 is more than n, 2"),
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
            "the claim's own figure is not among them",
        ),
        ('check = "arithmetic"\npublished = "1"\nexpression = "2 ** 3"', "is not of numbers"),
        (
            'check = "arithmetic"\npublished = "1"\nexpression = "1e308*1e308"',
            "'1e308*1e308' cannot be computed: it comes to 1e100 or more",
        ),
        (
            'check = "effect_size"\npublished = "1"\ngives = "p"\nf = "1e400"\ndf1 = 1\ndf2 = 1',
            "claim.first.f: 1e400 is out of bounds",
        ),
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
        (f"a,b\n1,2\n{'3' * 140_000},4\n", "mine.csv, line 3: field larger than field limit"),
    ],
)
def test_data_that_are_none_are_refused(tmp_path: Path, data: str, words: str) -> None:
    """An empty file, a ragged row, the same column twice, a header alone, a cell without end."""
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
