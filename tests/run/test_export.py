"""A study's data in other people's formats."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from drilling import answering, world, write_drill
from loopback import Loopback

from harness.cli import main
from harness.run.record import Recording

SCHEMA = json.loads((Path(__file__).parent / "every_eval_ever/eval.schema.json").read_text())
PLACE = re.compile(
    r"data/[^/]+/[^/]+/[^/]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json"
)


@pytest.fixture(scope="module")
def drill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("drill")
    with Loopback(answering(world(accuracy=(0.9, 0.6)))) as server:
        study = write_drill(root, server.url, questions=4, max_depth=2)
        assert Recording(study).run(4).problems == []
    return root


def export(root: Path, study: str, kind: str, out: Path, *more: str) -> Result:
    words = ["export", study, "--format", kind, "-o", str(out), "--root", str(root), *more]
    return CliRunner().invoke(main, words)


def exported(root: Path, study: str, out: Path, *more: str) -> dict[str, Any]:
    """Export records of Every Eval Ever, check each by the published schema, and give them."""
    result = export(root, study, "eee", out, *more)
    assert result.exit_code == 0, result.output
    found = {}
    for path in sorted(out.rglob("*.json")):
        assert PLACE.fullmatch(path.relative_to(out).as_posix())
        record = json.loads(path.read_text())
        jsonschema.validate(record, SCHEMA, cls=jsonschema.Draft7Validator)
        found[record["model_info"]["name"]] = record
    return found


def scores(record: dict[str, Any], place: str) -> dict[str, float]:
    return {
        result["metric_config"]["metric_id"]: result["score_details"]["score"]
        for result in record["evaluation_results"]
        if result["evaluation_name"].endswith(f": {place}")
    }


def test_dialogues_as_records_of_every_eval_ever(recorded: Path, tmp_path: Path) -> None:
    """One record a subject that the published schema takes, with the numbers of results.json."""
    found = exported(recorded, "small", tmp_path / "out", "--organization", "a lab")
    results = json.loads((recorded / "cassettes/small/results.json").read_text())
    assert sorted(found) == [part["subject"] for part in results["subjects"]]
    for part in results["subjects"]:
        record = found[part["subject"]]
        values = scores(record, "paper")
        said = record["source_metadata"]
        for name in ("hoc", "cri", "far_prime", "sas_prime", "ci_raw", "ci", "danger_zone"):
            if part[name]["value"] is None:
                assert f"ddft.{name}" not in values
                assert part[name]["reason"] in said["additional_details"].values()
            else:
                assert values[f"ddft.{name}"] == pytest.approx(part[name]["value"], rel=1e-11)
        assert said["source_organization_name"] == "a lab"
        judges = record["evaluation_results"][0]["metric_config"]["llm_scoring"]["judges"]
        assert [judge["model_info"]["name"] for judge in judges] == [
            "judge-a",
            "judge-b",
            "judge-c",
        ]
        assert record["model_info"]["additional_details"]["deployment_type"] == "self_deployed"


def test_scores_stay_in_the_ranges_they_name(recorded: Path, drill: Path, tmp_path: Path) -> None:
    """As the form's own checks want it: every score between its least and its greatest."""
    both = {
        **exported(recorded, "small", tmp_path / "a"),
        **exported(drill, "drill", tmp_path / "b"),
    }
    for record in both.values():
        ids = [result["evaluation_result_id"] for result in record["evaluation_results"]]
        assert len(set(ids)) == len(ids) > 2
        for result in record["evaluation_results"]:
            config, score = result["metric_config"], result["score_details"]["score"]
            assert config["min_score"] <= score <= float(config["max_score"])


def test_drills_as_records_of_every_eval_ever(drill: Path, tmp_path: Path) -> None:
    """EVD with its interval by paths, its greatest value being the study's greatest depth."""
    record = exported(drill, "drill", tmp_path / "out")["target-1"]
    run = json.loads((drill / "cassettes/drill/results.json").read_text())["runs"][0]
    assert scores(record, "Medicine")["depthcharge.evd"] == pytest.approx(
        run["evd"]["value"]["value"]
    )
    [evd] = [
        result
        for result in record["evaluation_results"]
        if result["metric_config"]["metric_id"] == "depthcharge.evd"
    ]
    assert evd["metric_config"]["max_score"] == 2
    if run["evd"]["two_way"]["low"] is not None:
        found = evd["score_details"]["uncertainty"]["confidence_interval"]
        assert found["lower"] == pytest.approx(run["evd"]["two_way"]["low"])


def test_the_same_study_gives_the_same_records(recorded: Path, tmp_path: Path) -> None:
    """Names and bytes: nothing is drawn, nothing comes from a clock."""
    for name in ("a", "b"):
        exported(recorded, "small", tmp_path / name)
    files = [
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*.json")
        }
        for name in ("a", "b")
    ]
    assert files[0] == files[1]


def test_rows_as_csv_and_as_parquet_are_the_same(recorded: Path, tmp_path: Path) -> None:
    """Every judgement in both, numbers as numbers, what is missing as null."""
    assert export(recorded, "small", "csv", tmp_path / "rows.csv").exit_code == 0
    assert export(recorded, "small", "parquet", tmp_path / "rows.parquet").exit_code == 0
    rows = list(csv.DictReader((tmp_path / "rows.csv").open(encoding="utf-8")))
    table = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert len(rows) == len(table) == 6 * 5 * 3
    as_text = [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in table
    ]
    assert as_text == rows
    assert isinstance(table[0]["far"], float)


def test_a_folder_gets_the_rows_and_every_table(drill: Path, tmp_path: Path) -> None:
    """One CSV a table, under a name that stays, and no half-written file."""
    out = tmp_path / "tables"
    result = export(drill, "drill", "csv", out)
    assert result.exit_code == 0, result.output
    names = sorted(path.name for path in out.iterdir())
    assert "rows.csv" in names
    assert "evd-by-target-and-domain.csv" in names
    assert len(names) == result.output.count("written: ") > 5
    assert all(len(list(csv.reader(path.open(encoding="utf-8")))) >= 1 for path in out.iterdir())


def test_a_cut_bundle_is_named_for_what_it_is(recorded: Path, tmp_path: Path) -> None:
    """Exit 2 with LEFT-OUT.json and what to do, and no word of a change or a new recording."""
    bundle = str(tmp_path / "d.tar.zst")
    words = ["pack", "small", "-o", bundle, "--root", str(recorded), "--drop", "subject-a"]
    assert CliRunner().invoke(main, words).exit_code == 0
    result = export(recorded, bundle, "csv", tmp_path / "out")
    assert result.exit_code == 2, result.output
    assert "LEFT-OUT.json" in result.output
    assert "Take the whole bundle" in result.output
    assert "record" not in result.output
    assert not (tmp_path / "out").exists()


def test_without_pyarrow_the_way_is_told(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An optional library that is not there is exit 2 with the words to install it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = export(recorded, "small", "parquet", tmp_path / "rows.parquet")
    assert result.exit_code == 2
    assert "harness[parquet]" in result.output
