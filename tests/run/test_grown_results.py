"""A study that an older release of a protocol recorded, replayed by one with another metric."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.protocols.ddft import protocol
from harness.recording import checksums
from harness.run.verdict import Verdict, replay
from harness.study.folder import Study

ADDED = {2: frozenset({"subjects[].danger_zone"})}


def without_the_metric(root: Path, **changes: Any) -> Verdict:
    """Replay a study whose results, and manifest, lack a metric, and are changed besides."""
    study = Study(root / "cassettes" / "small")
    results = {**json.loads(study.results.read_text("utf-8")), **changes}
    for subject in results["subjects"]:
        del subject["danger_zone"]
    study.results.write_text(json.dumps(results), "utf-8")
    checksums.write_manifests(root, study.folder)
    return replay(study, verify_checksums=True)


def test_a_listed_metric_may_be_absent_from_older_results(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study is OK, and the verdict counts what it does not have."""
    monkeypatch.setattr(protocol, "ADDED", ADDED)
    verdict = without_the_metric(recorded, metrics_version=1)
    assert (verdict.ok, verdict.numbers, verdict.words) == (True, "identical", "identical")
    assert verdict.more > 0
    assert f"numbers identical ({verdict.more} more than recorded)" in verdict.line


@pytest.mark.parametrize("version", [2, 3, 0, "1", None, True])
def test_it_may_not_where_the_results_are_not_older(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, version: Any
) -> None:
    """Under the present version, a later one, or none that there was, it was taken out."""
    monkeypatch.setattr(protocol, "ADDED", ADDED)
    assert without_the_metric(recorded, metrics_version=version).numbers == "different"


def test_a_metric_that_is_not_listed_may_not_be_absent(recorded: Path) -> None:
    """Results that say they are older lack nothing but what came later."""
    assert without_the_metric(recorded, metrics_version=1).numbers == "different"
