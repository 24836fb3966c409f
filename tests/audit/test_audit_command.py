"""harness audit: a row for every claim, JSON, the list, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from golden.cases import SHARED, needs_shared

from harness.audit.auditor import bundled
from harness.audit.claims import read_claims
from harness.audit.verdicts import VERDICTS
from harness.cli import main

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "cassettes" / "ddft-local" / "results.json"
CDCT = Path(__file__).with_name("cdct.toml")
VERDICT_ALONE = r"reproduced\*?|possible|other source|contradicted|not checkable"
HOLDS = """
title = "mine"
source = "my paper"
[claim.sum]
place = "p. 1"
says = "two and two"
check = "arithmetic"
published = "4"
expression = "2 + 2"
"""


def run(*arguments: str, columns: int = 80) -> Result:
    return CliRunner().invoke(main, ["audit", *arguments], env={"COLUMNS": str(columns)})


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", ["ddft", "ddft-second-table", "depthcharge"])
def test_every_claim_has_a_row(name: str, columns: int) -> None:
    """What is said, where, published, and a verdict, as wide as the terminal; the counts below."""
    done = run(name, columns=columns)
    assert done.exit_code == (0 if name == "depthcharge" else 1)
    title, *table, counts = done.output.splitlines()
    assert read_claims(bundled()[name]).title in title
    assert max(map(len, table)) <= columns
    claims = read_claims(bundled()[name]).claim
    for claim in claims.values():
        assert claim.says.split()[0] in done.output
        assert claim.place.split()[0] in done.output
    verdicts = re.findall(VERDICT_ALONE, "\n".join(table))
    assert len(verdicts) >= len(claims)
    assert counts.startswith(f"{len(claims)} claims: ")


def test_json_has_the_whole_table() -> None:
    """Every claim with place, figures, verdict and reason; the counts; the same exit code."""
    done = run("ddft", "--json")
    assert done.exit_code == 1
    found = json.loads(done.output)
    assert found["source"] == "arXiv 2512.23850v2"
    assert [finding["claim"] for finding in found["findings"]] == list(
        read_claims(bundled()["ddft"]).claim
    )
    assert all(finding["verdict"] in VERDICTS for finding in found["findings"])
    assert sum(found["counts"].values()) == len(found["findings"])
    [row] = [finding for finding in found["findings"] if finding["claim"] == "partial-p"]
    assert (row["place"], row["published"], row["check"]) == ("section 7.2", "0.041", "partial_p")


@pytest.mark.parametrize("arguments", [["--list"], []])
def test_the_bundled_files_are_listed(arguments: list[str]) -> None:
    """By name, with how many claims, of what."""
    done = run(*arguments)
    assert done.exit_code == 0
    for name, path in bundled().items():
        assert re.search(rf"^{name} +{len(read_claims(path).claim)} claims ", done.output, re.M)
    assert "arXiv 2512.23850v2" in done.output
    assert "arXiv 2603.23514" in done.output


def test_a_file_without_contradictions_exits_with_0(tmp_path: Path) -> None:
    """A user's own; one that is contradicted exits with 1."""
    (tmp_path / "mine.toml").write_text(HOLDS)
    done = run(str(tmp_path / "mine.toml"))
    assert (done.exit_code, "1 claims: 1 reproduced" in done.output) == (0, True)
    (tmp_path / "mine.toml").write_text(HOLDS.replace('"4"', '"7"'))
    assert run(str(tmp_path / "mine.toml")).exit_code == 1


def test_the_readmes_table_is_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the bundled study's results.json, found by the study's name or given as data."""
    monkeypatch.chdir(ROOT)
    for arguments in ([], ["--data", str(RESULTS)]):
        done = run("ddft-local", "--json", *arguments)
        assert done.exit_code == 0, done.output
        found = json.loads(done.output)
        assert {finding["verdict"] for finding in found["findings"]} == {"reproduced"}


def test_data_go_before_those_the_file_names(tmp_path: Path) -> None:
    """--data replaces the bundled table; another table gives another verdict."""
    table = bundled()["ddft-second-table"].with_suffix(".csv").read_text("utf-8")
    (tmp_path / "other.csv").write_text(table.replace("0.459", "0.159"))
    done = run("ddft-second-table", "--json", "--data", str(tmp_path / "other.csv"))
    verdicts = {each["claim"]: each["verdict"] for each in json.loads(done.output)["findings"]}
    assert verdicts["turn-4-rho"] == "contradicted"


def test_data_of_ones_own_check_what_the_paper_does_not_print() -> None:
    """The DDFT paper's correlations can be checked against a table with the named columns."""
    table = bundled()["ddft-second-table"].with_suffix(".csv")
    done = run("ddft", "--json", "--data", str(table))
    verdicts = {each["claim"]: each["verdict"] for each in json.loads(done.output)["findings"]}
    assert verdicts["parameters-r"] == verdicts["architecture-r"] == "contradicted"


@needs_shared
def test_the_public_judge_scores_reproduce_but_for_the_variance() -> None:
    """Every published figure comes out; the "variance" is a standard deviation, and said to be."""
    done = run(str(CDCT), "--json", "--data", str(SHARED / "data" / "cdct_judgements.csv"))
    assert done.exit_code == 1
    found = {finding["claim"]: finding for finding in json.loads(done.output)["findings"]}
    wrong = found.pop("cc-variance")
    assert {finding["verdict"] for finding in found.values()} == {"reproduced"}
    assert wrong["verdict"] == "contradicted"
    assert "it is the mean standard deviation, 0.06803" in wrong["why"]
    assert "the mean variance is 0.01247 with ddof 0" in wrong["why"]


@needs_shared
def test_every_published_figure_of_the_judge_scores_is_claimed() -> None:
    """Each number that the data's README says is published stands in the claims file."""
    readme = (SHARED / "data" / "README.md").read_text("utf-8")
    start, end = readme.index("Published from it"), readme.index("All of it")
    figures = set(re.findall(r"\d+\.\d+(?:e-\d+)?|\b8[078]\b", readme[start:end]))
    text = CDCT.read_text("utf-8")
    assert {figure for figure in figures if figure not in text} <= {"2.5"}
