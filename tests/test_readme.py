"""The README says what is: its numbers are those of the bundled study's results.json."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.recording import checksums

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
RESULTS: dict[str, Any] = json.loads((ROOT / "cassettes/ddft-local/results.json").read_text())


def shown(value: dict[str, Any]) -> str:
    """Give a value as the README's table shows it."""
    if value["value"] is None:
        return f"null: {value['reason']}"
    return f"{value['value']:.3f} (n={value['n']})"


@pytest.mark.parametrize("subject", RESULTS["subjects"], ids=lambda subject: subject["subject"])
def test_the_table_is_the_results(subject: dict[str, Any]) -> None:
    """Every cell of a subject's row is computed from results.json."""
    far = ", ".join(f"{level['far']['value']:.3f}" for level in subject["levels"])
    names = ("hoc", "cri", "far_prime", "sas_prime", "ci_raw", "danger_zone")
    cells = [subject["subject"], far, *(shown(subject[name]) for name in names)]
    assert f"| {' | '.join(cells)} |" in README


def test_the_sentences_below_the_table_are_the_results() -> None:
    """Dialogues, judgements, missing ones and the judges' agreement."""
    text = re.sub(r"\s+", " ", README)
    missing = RESULTS["missing"]
    counts = f"{len(RESULTS['cells'])} dialogues, {missing['judgements']} judgements"
    assert f"{counts}, {missing['missing']} missing" in text
    scales = {part["scale"]: part["agreement"] for part in RESULTS["analysis"]["jury"]["scales"]}
    far, sas = (f"{scales[name]['alpha']['value']:.3f}" for name in ("far", "sas"))
    assert f"n = {scales['far']['n']} answers) is {far} for FAR and {sas} for SAS" in text


def test_the_verdict_shown_is_the_studys() -> None:
    """The fingerprint that the README prints is the manifest's."""
    assert f"fingerprint {checksums.fingerprint(ROOT, 'ddft-local')}" in README


def test_every_script_named_is_there() -> None:
    """A command that the README tells to run exists."""
    for name in set(re.findall(r"scripts/([a-z_-]+(?:\.py)?)", README)):
        assert (ROOT / "scripts" / name).is_file(), name


def test_the_profiler_snippet_runs_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The six lines of the README run as they stand, on the bundled study."""
    [snippet] = [
        block
        for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL)
        if "CognitiveProfiler" in block
    ]
    monkeypatch.chdir(ROOT)
    exec(compile(snippet, "README.md", "exec"), {})
