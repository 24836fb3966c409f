"""What `harness export` writes of the bundled studies is what `harness audit --data` reads."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.audit.dataset import read_dataset
from harness.cli import main
from harness.results import DrillResults, read_results
from harness.run.replay import replayed_results
from harness.study.folder import Study

ROOT = Path(__file__).parents[2]
STUDIES = ("ddft-local", "depthcharge-local")
HEAD = 'title = "Exported"\nsource = "our own export"\n'
CLAIM = """
[claim."{name}"]
place = "table 1"
says = "what the table says"
check = "value"
published = "{published}"
columns = ["{column}"]
where = {where}
statistic = "mean"
n = 1
"""


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export every table of both studies, each study into a folder of its name."""
    folder = tmp_path_factory.mktemp("exports")
    for study in STUDIES:
        words = ["export", study, "--format", "csv", "-o", str(folder / study)]
        result = CliRunner().invoke(main, [*words, "--root", str(ROOT)])
        assert result.exit_code == 0, result.output
    return folder


def claim(name: str, column: str, number: float, where: dict[str, str], digits: int = 3) -> str:
    """Write the claim that a column has a number in the one row that has these texts."""
    pairs = ", ".join(f'{key} = "{text}"' for key, text in where.items())
    published = f"{number:.{digits}f}"
    return CLAIM.format(name=name, published=published, column=column, where=f"{{ {pairs} }}")


def audit(folder: Path, claims: str, data: Path) -> tuple[Result, dict[str, str]]:
    """Audit claims against a file; return the outcome and each claim's verdict."""
    path = folder / "claims.toml"
    path.write_text(HEAD + claims)
    result = CliRunner().invoke(main, ["audit", str(path), "--data", str(data), "--json"])
    findings = json.loads(result.output)["findings"]
    return result, {finding["claim"]: finding["verdict"] for finding in findings}


@pytest.mark.parametrize("study", STUDIES)
def test_every_exported_table_is_data_for_an_audit(exports: Path, study: str) -> None:
    """No file has a column's name twice or a ragged row; every cell is read as it was written."""
    paths = sorted((exports / study).glob("*.csv"))
    assert len(paths) > 20
    for path in paths:
        written = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
        assert read_dataset(path).rows == [
            {column: text.strip() for column, text in row.items()} for row in written
        ], path.name


def test_subjects_of_a_bundled_study_are_reproduced(exports: Path, tmp_path: Path) -> None:
    """Each subject's CRI, n and danger zone as results.json has them; another number is not."""
    subjects: list[Any] = read_results(ROOT / "cassettes/ddft-local/results.json")["subjects"]
    claims = ""
    for subject in subjects:
        name, where = subject["subject"], {"subject": subject["subject"]}
        claims += claim(f"{name}-cri", "cri", subject["cri"]["value"], where)
        claims += claim(f"{name}-cri-n", "cri_n", subject["cri"]["n"], where, digits=0)
        claims += claim(f"{name}-danger", "danger_zone", subject["danger_zone"]["value"], where)
    data = exports / "ddft-local" / "subjects.csv"
    result, verdicts = audit(tmp_path, claims, data)
    assert result.exit_code == 0, result.output
    assert list(verdicts.values()) == ["reproduced"] * 3 * len(subjects)
    where = {"subject": subjects[0]["subject"]}
    wrong = claim("wrong", "cri", subjects[0]["cri"]["value"] + 0.01, where)
    result, verdicts = audit(tmp_path, wrong, data)
    assert (result.exit_code, verdicts) == (1, {"wrong": "contradicted"})


def test_what_is_undefined_is_not_reproduced(exports: Path, tmp_path: Path) -> None:
    """An HOC that no level gives is no 0, and the table says why beside it."""
    data = exports / "ddft-local" / "subjects.csv"
    rows = read_dataset(data).rows
    assert {(row["hoc"], row["hoc_reason"]) for row in rows} == {("", "no level passes")}
    _, verdicts = audit(
        tmp_path, claim("hoc", "hoc", 0, {"subject": rows[0]["subject"]}, digits=1), data
    )
    assert verdicts["hoc"] not in ("reproduced", "possible")


def test_runs_of_a_bundled_drill_are_reproduced(exports: Path, tmp_path: Path) -> None:
    """Each EVD with n and both ends of its interval; a lower bound says that it is one."""
    results = replayed_results(Study(ROOT / "cassettes/depthcharge-local"))
    assert isinstance(results, DrillResults)
    data = exports / "depthcharge-local" / "runs.csv"
    rows = {row["run"]: row for row in read_dataset(data).rows}
    claims = ""
    for run in results.runs:
        name, evd, where = run.cell.name, run.evd, {"run": run.cell.name}
        assert evd.value.value is not None
        claims += claim(f"{name}-evd", "evd", evd.value.value, where)
        claims += claim(f"{name}-n", "evd_n", evd.value.n, where, digits=0)
        for end in ("low", "high"):
            bound = getattr(evd.two_way, end)
            if bound is not None:
                claims += claim(f"{name}-{end}", f"evd_{end}", bound, where)
        assert ("at least" in rows[name]["evd_reason"]) == evd.censored
    result, verdicts = audit(tmp_path, claims, data)
    assert result.exit_code == 0, result.output
    assert len(verdicts) > 2 * len(results.runs)
    assert set(verdicts.values()) == {"reproduced"}
