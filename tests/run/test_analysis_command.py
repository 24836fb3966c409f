"""harness analyze: from the recording alone, to a terminal, as JSON and as CSV."""

import csv
import json
from pathlib import Path

from click.testing import CliRunner

from harness.cli import main


def test_the_analysis_is_that_of_the_results(recorded: Path) -> None:
    """The JSON equals results.json's analysis, beside checks, findings and the answers."""
    done = CliRunner().invoke(main, ["analyze", "small", "--json", "--root", str(recorded)])
    assert done.exit_code == 0, done.output
    results = json.loads((recorded / "cassettes/small/results.json").read_text())
    beside = {"verification": "verified", "answers": results["answers"]}
    document = json.loads(done.output)
    assert document.pop("findings")
    assert document == {**beside, **results["analysis"]}


def test_the_tables_say_n_and_why_a_number_is_undefined(recorded: Path) -> None:
    """Two subjects are too few for a correlation, and the table says so instead of a number."""
    runner = CliRunner(env={"COLUMNS": "220"})
    done = runner.invoke(main, ["analyze", "small", "--root", str(recorded)])
    assert done.exit_code == 0, done.output
    for word in ("Subjects", "subject-a", "Correlations", "Agreement", "predictions", "Multiverse"):
        assert word in done.output
    assert "at least 4 are needed" in done.output
    assert "(n=" in done.output


def test_the_csv_has_one_row_a_judgement(recorded: Path, tmp_path: Path) -> None:
    """Every judgement of the study with its place, its scores and the consensus."""
    path = tmp_path / "turns.csv"
    words = ["analyze", "small", "--csv", str(path), "--root", str(recorded)]
    assert CliRunner().invoke(main, words).exit_code == 0
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert len(rows) == 6 * 5 * 3
    results = json.loads((recorded / "cassettes/small/results.json").read_text())
    turn = results["cells"][0]["turns"][3]
    [row] = [
        row
        for row in rows
        if (row["subject"], row["level"], row["turn"], row["judge"])
        == ("subject-a", "0.0", "4", "judge-b")
    ]
    assert float(row["far"]) == turn["scores"]["judge-b"]["far"]
    assert row["domain"] == "ethics"


def test_a_recording_that_does_not_replay_is_not_analysed(recorded: Path) -> None:
    """A miss is exit 1 with its words, never a table of other numbers."""
    materials = recorded / "cassettes/small/materials.json"
    materials.write_text(materials.read_text().replace("oral examination", "oral quiz"))
    words = ["analyze", "small", "--no-verify-checksums", "--root", str(recorded)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "[quiz]" in done.output


def test_the_same_findings_stand_in_every_format(recorded: Path) -> None:
    """First on a terminal, first in Markdown, and as a list in JSON; --json is --format json."""
    command = ["analyze", "small", "--root", str(recorded)]
    text, markdown, document, short = (
        CliRunner(env={"COLUMNS": None}).invoke(main, [*command, *options]).output
        for options in ([], ["--format", "markdown"], ["--format", "json"], ["--json"])
    )
    findings = json.loads(document)["findings"]
    assert findings
    assert document == short
    assert text.splitlines()[0].rstrip() == "Findings"
    assert markdown.startswith(f"### Findings\n\n- {findings[0]}\n")
    assert [f"- {finding}" for finding in findings] == text.splitlines()[1 : 1 + len(findings)]
