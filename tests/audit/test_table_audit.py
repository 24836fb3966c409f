"""harness audit table: what a paper's tables claim, found without a claims file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from audit.planted import PLANTED, Draw, clean
from click.testing import CliRunner, Result

from harness.audit.auditor import Audit, audit
from harness.audit.claims import read_claims
from harness.audit.tables.table_audit import audit_tables
from harness.cli import main

TABLES = sorted((Path(__file__).parent / "tables").glob("*.tex"))
# What is printed wrong in one of the tables: the file, the print, and what it becomes.
MISPRINTS = {
    "two averages swapped": ("benchmarks", {"& 49.1 ": "& 53.1 ", "& 53.1 ": "& 49.1 "}, 2),
    "an average over another split": ("benchmarks", {"& 54.6 ": "& 53.5 "}, 1),
    "the wrong cell bold": (
        "benchmarks",
        {r"\best{66.4}": "66.4", r"& 60.8 &": r"& \best{60.8} &"},
        1,
    ),
    "a header shifted": ("benchmarks", {"& Plans & ": "&  & ", "{*}{Avg.}": "{*}{Plans}"}, 0),
    "a share of another row": ("intervals", {r"(94.0\%)": r"(117.5\%)"}, 1),
    "an estimate outside": ("intervals", {"70.0 [": "80.0 ["}, 1),
    "a gain with the wrong sign": ("ablation", {"$-1.2$": "1.2"}, 1),
    "loss and win and tie": ("preferences", {"& 26.7 ": "& 28.7 "}, 1),
    "an average of a column": ("languages", {"& 41.6 ": "& 43.6 "}, 0),
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["audit", "table", *arguments])


def audited(path: Path, text: str) -> Audit:
    path.write_text(text, encoding="utf-8")
    found = audit_tables(path).audit
    assert found is not None
    return found


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_a_table_that_is_right_is_read_wholly_and_not_contradicted(table: Path) -> None:
    """Five tables in the usual ways of papers: nothing unread, claims made, none contradicted."""
    tables = audit_tables(table)
    assert [summary.unread for summary in tables.tables] == [()]
    assert tables.audit is not None
    assert tables.audit.counts["contradicted"] == 0
    assert len(tables.audit.findings) >= 4


@pytest.mark.parametrize("misprint", MISPRINTS)
def test_a_misprint_is_contradicted_where_the_table_proves_it(
    misprint: str, tmp_path: Path
) -> None:
    """As many claims are contradicted as the table proves wrong; else they hold or are open."""
    name, changes, contradicted = MISPRINTS[misprint]
    text = (Path(__file__).parent / "tables" / f"{name}.tex").read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        for before, after in changes.items():
            if before in line:
                line = line.replace(before, after)
                break
        lines.append(line)
    assert "\n".join(lines) != text.rstrip()
    counts = audited(tmp_path / "t.tex", "\n".join(lines)).counts
    assert counts["contradicted"] == contradicted


def test_two_hundred_tables_with_a_planted_error(tmp_path: Path) -> None:
    """Of ten kinds of errors, twenty tables each, at least 95% are contradicted."""
    hits = [
        audited(tmp_path / "t.tex", plant(Draw(seed)).latex()).counts["contradicted"] > 0
        for plant in PLANTED.values()
        for seed in range(20)
    ]
    assert len(hits) == 200
    assert sum(hits) >= 190


def test_a_hundred_right_tables_are_never_contradicted(tmp_path: Path) -> None:
    """Of eight kinds, rounded half up, half even and cut off: none contradicted."""
    for seed in range(100):
        assert audited(tmp_path / "t.tex", clean(seed).latex()).counts["contradicted"] == 0, seed


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_the_claims_file_that_it_writes_runs(table: Path, tmp_path: Path) -> None:
    """The claims file has the same claims with the same verdicts."""
    out = tmp_path / "claims.toml"
    assert run(str(table), "--claims", str(out)).exit_code == 0
    tables = audit_tables(table).audit
    assert tables is not None
    assert audit(out, read_claims(out)).findings == tables.findings
    assert CliRunner().invoke(main, ["audit", str(out)]).exit_code == 0


def test_what_is_unread_is_listed(tmp_path: Path) -> None:
    """A cell with digits that are no plain number, and a row of another width, by their lines."""
    source = tmp_path / "t.tex"
    source.write_text(
        "\\begin{tabular}{lcc}\nModel & A & B \\\\ \\hline\nx & 1.0 & 2.0 \\\\\n"
        "y & 3.0 & from 4 to 5 \\\\\nz & 1.0 \\\\\n\\end{tabular}\n",
        encoding="utf-8",
    )
    done = run(str(source))
    assert "not read: line 4: 'from 4 to 5'" in done.output
    assert "not read: line 5: 2 cells of 3" in done.output


def test_markdown_and_csv_are_read_as_well(tmp_path: Path) -> None:
    """The same wrong average is contradicted in both."""
    rows = [["a", "1.0", "3.0", "2.0"], ["b", "2.0", "5.0", "3.5"], ["c", "4.0", "4.0", "4.0"]]
    rows += [["d", "6.0", "1.0", "3.5"], ["e", "7.0", "9.0", "8.8"]]
    header = ["Model", "One", "Two", "Average"]
    pipes = [" | ".join(row) for row in [header, ["---"] * 4, *rows]]
    for name, text in (
        ("t.md", "\n".join(f"| {line} |" for line in pipes)),
        ("t.csv", "\n".join(",".join(row) for row in [header, *rows])),
    ):
        assert audited(tmp_path / name, text).counts["contradicted"] == 1


def test_percentages_of_n(tmp_path: Path) -> None:
    """With --n each percentage is compared with the counts of n; off it is not checkable."""
    source = tmp_path / "t.csv"
    source.write_text("Model,Accuracy\na,61.3\nb,61.2\nc,62.0\n", encoding="utf-8")
    found = json.loads(run(str(source), "--n", "150", "--json").output)["audit"]["findings"]
    assert [finding["verdict"] for finding in found] == ["possible", "not checkable", "possible"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.pdf", "", "expected a name that ends in .tex, .md, .csv"),
        ("t.tex", "no table", "there is no table in it"),
    ],
)
def test_what_cannot_be_read_is_a_usage_error(
    name: str, text: str, words: str, tmp_path: Path
) -> None:
    """Another kind of file and a file without tables: exit code 2, and what is expected."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = run(str(tmp_path / name))
    assert done.exit_code == 2
    assert words in done.output


HOSTILE = {
    "a macro that grows": r"\newcommand{\a}{\b\b\b\b}\newcommand{\b}{\a\a\a\a}",
    "a macro of itself": r"\newcommand{\a}{\a\a}",
    "long digits": "9" * 5000,
    "braces that never close": "{" * 5000,
    "a gain over zero": r"\textbf{0}",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_source_ends_without_a_traceback(kind: str, tmp_path: Path) -> None:
    """Sources that grow, never close or hold absurd numbers end with words."""
    text = HOSTILE[kind]
    source = tmp_path / "t.tex"
    rows = "".join(f"{text} & {n}.0 & 0 & \\a \\\\\n" for n in range(4))
    source.write_text(
        f"{text}\n\\begin{{tabular}}{{lccc}}\nx & A & B & $\\Delta$ \\\\ \\hline\n{rows}",
        encoding="utf-8",
    )
    done = run(str(source))
    assert done.exception is None or isinstance(done.exception, SystemExit)


def test_a_label_of_two_lines_and_gains_in_bold(tmp_path: Path) -> None:
    """A tabular in a cell is one text; a gain in bold is no best; all of the table is read."""
    source = tmp_path / "t.tex"
    source.write_text(
        "\\begin{tabular}{lcc}\n\\hline\nModel & A & B \\\\ \\hline\n"
        "\\begin{tabular}[c]{@{}c@{}}Alder\\\\ (base)\\end{tabular} & 41.0 & 52.0 \\\\\n"
        "\\makecell{Alder\\\\ (tuned)} & \\textbf{43.5} & \\textbf{56.0} \\\\\n"
        "$\\Delta$ & \\textcolor{green}{\\textbf{+2.5}} & \\textcolor{green}{+4.0} \\\\\n"
        "Birch & 30.0 & 31.0 \\\\ \\hline\n\\end{tabular}\n",
        encoding="utf-8",
    )
    tables = audit_tables(source)
    assert [(table.rows, table.columns, table.unread) for table in tables.tables] == [(4, 2, ())]
    assert tables.audit is not None
    places = [finding.place for finding in tables.audit.findings if finding.check == "marked"]
    assert all("Δ" not in place for place in places)
