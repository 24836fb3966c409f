"""Claims against data: statistics as numpy has them, units, filters, rounding, results.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit.claim_text import finding, verdict
from golden.cases import cases
from scipy import stats

from harness.errors import DamagedFile, UsageError

ROWS = [("a", "0", 0.10, 3), ("a", "1", 0.50, 1), ("b", "0", 0.20, 4), ("b", "1", 0.10, 1)]
TABLE = """model,ci,turn_4_far,reasoning,parameters_b
grok,0.459,0.838,0,314
mistral,0.455,0.825,0,45
oss,0.441,0.856,1,120
phi,0.437,0.843,0,14
o4,0.420,0.900,1,14
llama,0.401,0.890,0,17
o3,0.389,0.950,1,25
haiku,0.368,0.965,1,8
gpt,0.363,0.983,1,175
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "d.csv"
    lines = [f"{model},{level},{x},{y}\n" for model, level, x, y in ROWS]
    path.write_text("model,level,x,y\n" + "".join(lines), encoding="utf-8-sig")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    return path


def test_statistics_are_those_of_numpy(data: Path) -> None:
    """Mean, median, SD and variance with either ddof, counts, and the three coefficients."""
    x, y = (np.array([row[column] for row in ROWS]) for column in (2, 3))
    expected: dict[str, float] = {
        "mean": x.mean(),
        "median": float(np.median(x)),
        "pearson": stats.pearsonr(x, y).statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "kendall": stats.kendalltau(x, y).statistic,
    }
    for statistic, value in expected.items():
        columns = ["x", "y"] if statistic in ("pearson", "spearman", "kendall") else ["x"]
        keys: dict[str, Any] = {"data": data, "columns": columns, "statistic": statistic, "n": 4}
        assert verdict("value", f"{value:.6f}", **keys) == "reproduced", statistic
        assert verdict("value", f"{value + 0.01:.6f}", **keys) == "contradicted", statistic
    for ddof in (0, 1):
        for statistic, value in (("sd", x.std(ddof=ddof)), ("variance", x.var(ddof=ddof))):
            keys = {"data": data, "columns": ["x"], "statistic": statistic}
            assert verdict("value", f"{value:.6f}", ddof=ddof, **keys) == "reproduced"
            found = finding("value", f"{value:.6f}", **keys)
            assert (found.verdict, f"only with ddof {ddof}" in found.why) == ("reproduced*", True)
    assert verdict("value", "4", data=data, columns=["x"], statistic="count") == "reproduced"


def test_filters_keep_and_leave_out(data: Path) -> None:
    """where and without, as text or as the same number written otherwise."""
    keys: dict[str, Any] = {"data": data, "columns": ["x"], "statistic": "mean"}
    assert verdict("value", "0.15", where={"level": "0"}, **keys) == "reproduced"
    assert verdict("value", "0.15", where={"level": "0.0"}, **keys) == "reproduced"
    assert verdict("value", "0.15", without={"model": "a"}, **keys) == "reproduced"
    assert verdict("value", "0.225", **keys) == "reproduced"


def test_a_unit_is_averaged_and_differences_are_within_it(data: Path) -> None:
    """per names the units; minus takes one condition from the other in each."""
    keys: dict[str, Any] = {"data": data, "per": ["model"], "n": 2}
    assert verdict("value", "0.225", statistic="mean", columns=["x"], **keys) == "reproduced"
    rise = {"of": "x", "where": {"level": "1"}, "minus": {"level": "0"}}
    assert verdict("value", "0.15", statistic="mean", columns=[rise], **keys) == "reproduced"
    assert verdict("value", "1", statistic="count_positive", columns=[rise], **keys) == "reproduced"
    fall = {"of": "y", "where": {"level": "0"}, "minus": {"level": "1"}}
    both = [rise, fall]
    assert verdict("value", "1", statistic="count_positive", columns=both, **keys) == "reproduced"


def test_a_hole_leaves_its_unit_out_and_n_tells(tmp_path: Path) -> None:
    """n is what is left, and another n is contradicted."""
    path = tmp_path / "holes.csv"
    path.write_text("x,y\n1,2\n2,\n3,5\n,1\n4,4\n")
    keys: dict[str, Any] = {"data": path, "columns": ["x", "y"], "statistic": "pearson"}
    r = stats.pearsonr([1, 3, 4], [2, 5, 4]).statistic
    assert verdict("value", f"{r:.5f}", n=3, **keys) == "reproduced"
    found = finding("value", f"{r:.5f}", n=5, **keys)
    assert (found.verdict, found.why) == ("contradicted", "n is 3 and not 5")


def test_an_undefined_statistic_is_not_checkable(tmp_path: Path) -> None:
    """A constant column has no correlation."""
    path = tmp_path / "c.csv"
    path.write_text("x,y\n1,2\n1,3\n")
    found = finding("value", "0.5", data=path, columns=["x", "y"], statistic="pearson")
    assert (found.verdict, "undefined" in found.why) == ("not checkable", True)


def test_rounded_data_give_a_range(table: Path) -> None:
    """r = -0.608 of the printed CI; -0.609 is within their rounding, and only because of it."""
    keys: dict[str, Any] = {"data": table, "columns": ["reasoning", "ci"], "statistic": "pearson"}
    found = finding("value", "-0.609", rounded=["ci"], **keys)
    assert found.verdict == "possible"
    assert "over the rounding of the inputs" in found.why
    assert verdict("value", "-0.609", **keys) == "contradicted"
    assert verdict("value", "-0.630", rounded=["ci"], **keys) == "contradicted"


def test_the_range_of_a_correlation_holds_all_that_rounds_so(table: Path) -> None:
    """No draw of numbers that would have been printed so leaves it, and it is nearly reached."""
    rows = [line.split(",") for line in TABLE.splitlines()[1:]]
    ci, far = (np.array([float(row[column]) for row in rows]) for column in (1, 2))
    keys: dict[str, Any] = {"data": table, "columns": ["turn_4_far", "ci"], "statistic": "pearson"}
    found = finding("value", "0.1", rounded=["ci", "turn_4_far"], **keys)
    low, high = (float(end) for end in found.why.split("; ")[1].split(" over")[0].split(" to "))
    draw = np.random.default_rng(1)
    signs = draw.choice([-0.0005, 0.0005], (4000, 2, 9))
    drawn = [np.corrcoef(ci + one, far + other)[0, 1] for one, other in signs]
    assert low - 5e-5 <= min(drawn)
    assert max(drawn) <= high + 5e-5
    assert min(drawn) - low < 0.0015
    assert high - max(drawn) < 0.0015


def test_a_logarithm_is_taken_of_the_column(table: Path) -> None:
    """log10 of the parameters, which must be positive."""
    rows = [line.split(",") for line in TABLE.splitlines()[1:]]
    r = stats.pearsonr([np.log10(float(row[4])) for row in rows], [float(row[1]) for row in rows])
    columns = [{"of": "parameters_b", "log10": True}, "ci"]
    keys: dict[str, Any] = {"data": table, "columns": columns, "statistic": "pearson"}
    assert verdict("value", f"{r.statistic:.4f}", **keys) == "reproduced"


RESULTS = {
    "subjects": [
        {"subject": "a", "arm": "paper", "cri": {"value": 0.71, "n": 5, "reason": None},
         "hoc": {"value": None, "n": 5, "reason": "no level passes"},
         "levels": [{"level": 0.25, "far": {"value": 0.4, "n": 5, "reason": None}}]},
        {"subject": "b", "arm": "paper", "cri": {"value": 0.91, "n": 5, "reason": None},
         "hoc": {"value": 0.5, "n": 5, "reason": None}, "levels": []},
    ],
    "cells": [1, 2, 3],
    "missing": {"judgements": 150},
}  # fmt: skip


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(RESULTS))
    return path


def test_a_results_file_is_looked_up(results: Path) -> None:
    """By keys, by entries of lists, by the length of a list; null is a figure too."""
    subject: list[Any] = ["subjects", {"subject": "a"}]
    keys: dict[str, Any] = {"data": results}
    assert verdict("value", "0.71", at=[*subject, "cri"], n=5, **keys) == "reproduced"
    assert verdict("value", "0.72", at=[*subject, "cri"], **keys) == "contradicted"
    assert verdict("value", "0.71", at=[*subject, "cri"], n=6, **keys) == "contradicted"
    at = [*subject, "levels", {"level": 0.25}, "far"]
    assert verdict("value", "0.4", at=at, **keys) == "reproduced"
    found = finding("value", "null", at=[*subject, "hoc"], **keys)
    assert (found.verdict, found.recomputed) == ("reproduced", "null: no level passes")
    assert verdict("value", "0", at=[*subject, "hoc"], **keys) == "contradicted"
    assert verdict("value", "null", at=[*subject, "cri"], **keys) == "contradicted"
    assert verdict("value", "3", at=["cells"], **keys) == "reproduced"
    assert verdict("value", "150", at=["missing", "judgements"], **keys) == "reproduced"


def test_a_results_file_is_a_table_of_subjects(results: Path) -> None:
    """A row a subject, its metrics as columns; null is a hole."""
    keys: dict[str, Any] = {"data": results, "statistic": "mean"}
    assert verdict("value", "0.81", columns=["cri"], n=2, **keys) == "reproduced"
    assert verdict("value", "0.5", columns=["hoc"], n=1, **keys) == "reproduced"
    where = {"subject": "b"}
    assert verdict("value", "0.91", columns=["cri"], where=where, **keys) == "reproduced"


def test_a_depthcharge_results_file_is_a_table_of_runs(tmp_path: Path) -> None:
    """A row a run, the parts of its name and its EVD as columns, and looked up by its name."""
    evd = {"value": {"value": 3.5, "n": 5, "reason": None}, "censored": False}
    runs = [{"cell": {"target": "a", "domain": "law", "repeat": 1}, "stop": "theta", "evd": evd}]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"runs": runs}))
    keys: dict[str, Any] = {"data": path}
    where = {"target": "a", "domain": "law"}
    mean: dict[str, Any] = {"statistic": "mean", "columns": ["evd"], "where": where}
    assert verdict("value", "3.5", **mean, **keys) == "reproduced"
    at = ["runs", {"cell": {"target": "a", "domain": "law"}}, "evd", "value"]
    assert verdict("value", "3.50", at=at, **keys) == "reproduced"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"subjects": [{"subject": "a", "cell": null}]}', "subjects[0].cell: expected an object"),
        ('{"runs": [{"cell": {}}, 3]}', "runs[1]: expected an object"),
        ('{"subjects": 5}', "subjects: expected a list of objects, got 5"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1', "is not JSON as we write it (Input data was truncated)"),
        ("model,score\na,1\n", "is not JSON"),
        ("", "is not JSON"),
        ('{"x": {"value": "a", "n": 1}}', "is no number below 1e100 but 'a'"),
        (f'{{"x": {"9" * 400}}}', "a whole number of 400 digits"),
        ('{"x": 1, "x": 2}', "the key 'x' stands twice in one object"),
    ],
)
def test_json_that_is_no_results_file_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """With what is wrong where; and `harness record` mends nobody's own file."""
    path = tmp_path / "own.json"
    path.write_text(text)
    with pytest.raises(UsageError) as told:
        finding("value", "1", at=["x"], data=path)
    assert words in str(told.value)
    assert "harness record" not in str(told.value)


def test_a_studys_damaged_results_are_written_anew(tmp_path: Path) -> None:
    """Beside a study.toml the advice is to record."""
    (tmp_path / "study.toml").touch()
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(DamagedFile, match="let `harness record` write it anew"):
        finding("value", "1", at=["x"], data=tmp_path / "results.json")


def test_what_only_some_subjects_have_is_a_column_with_holes(tmp_path: Path) -> None:
    """Whichever subject comes first."""
    path = tmp_path / "results.json"
    path.write_text('{"subjects": [{"subject": "a", "x": 1}, {"subject": "b", "y": 2}]}')
    for column, figure in (("x", "1"), ("y", "2")):
        keys: dict[str, Any] = {"columns": [column], "statistic": "mean", "n": 1}
        assert verdict("value", figure, data=path, **keys) == "reproduced"


def test_without_data_what_is_needed_is_named() -> None:
    """The columns, or what the source would have to print."""
    found = finding("value", "0.5", statistic="mean", columns=["cri"])
    assert (found.verdict, "the columns cri" in found.why) == ("not checkable", True)
    found = finding("value", "0.5", missing="a log")
    assert (found.verdict, found.why) == ("not checkable", "not printed: a log")
    found = finding("interval_resampled", ["0", "1"], method="pearson", columns=["a", "b"])
    assert (found.verdict, "the columns a, b" in found.why) == ("not checkable", True)


@pytest.mark.parametrize("case", cases("bootstrap"))
def test_golden_intervals(case: dict[str, Any], tmp_path: Path) -> None:
    """With a stated seed: PCG64's digits plainly, the legacy generator's by that name."""
    if "legacy_mt19937" not in case["expected"]:
        return
    path = tmp_path / "b.csv"
    rows = zip(case["inputs"]["x"], case["inputs"]["y"], strict=True)
    path.write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in rows))
    for method in ("pearson", "spearman"):
        keys: dict[str, Any] = {"data": path, "columns": ["x", "y"], "method": method, "seed": 42}
        ends = case["expected"]["pcg64"][method]["percentile_ci95"]
        assert verdict("interval_resampled", [f"{e:.7f}" for e in ends], **keys) == "reproduced"
        ends = case["expected"]["legacy_mt19937"][f"{method}_percentile_ci95"]
        assert verdict("interval_resampled", [f"{e:.7f}" for e in ends], **keys).startswith(
            "reproduced"
        )


def test_a_seed_too_large_for_the_legacy_generator_is_pcg64s(table: Path) -> None:
    """A date and time as a seed, say."""
    keys: dict[str, Any] = {"data": table, "columns": ["reasoning", "ci"], "method": "pearson"}
    found = finding(
        "interval_resampled", ["-0.80", "0.10"], seed=20251231235959, kind="percentile", **keys
    )
    assert (found.verdict, "legacy" in found.why) == ("contradicted", False)


def test_an_interval_without_a_seed_is_within_error_or_not(table: Path) -> None:
    """Any seed's interval is reproduced*; one of another statistic is contradicted."""
    keys: dict[str, Any] = {"data": table, "columns": ["reasoning", "ci"], "method": "pearson"}
    x, y = (
        np.array([float(line.split(",")[column]) for line in TABLE.splitlines()[1:]])
        for column in (3, 1)
    )
    for seed in range(2):
        rows = np.random.default_rng(seed).integers(0, 9, (10_000, 9))
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = [np.corrcoef(x[row], y[row])[0, 1] for row in rows]
        ends = np.nanpercentile(drawn, [2.5, 97.5])
        found = finding("interval_resampled", [f"{end:.3f}" for end in ends], **keys)
        assert (found.verdict, "Monte Carlo" in found.why) == ("reproduced*", True)
    assert verdict("interval_resampled", ["-0.80", "0.10"], **keys) == "not checkable"
    keys["kind"] = "percentile"
    assert verdict("interval_resampled", ["-0.80", "0.10"], **keys) == "contradicted"
    assert verdict("interval_resampled", ["-0.95", "-0.05"], n=8, **keys) == "contradicted"
