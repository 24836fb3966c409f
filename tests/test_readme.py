"""The README says what is: its numbers are those of the bundled studies' results.json."""

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from provider import Provider
from readme_clone import ACTIVATION, make_clone, printed_commands, run_printed

from harness.run.verdict import replay
from harness.study.folder import find_study

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
RESULTS: dict[str, Any] = json.loads((ROOT / "cassettes/ddft-local/results.json").read_text())
DRILLS: dict[str, Any] = json.loads((ROOT / "cassettes/depthcharge-local/results.json").read_text())


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


def figures(values: Sequence[float | None], joint: str) -> str:
    return joint.join("null" if value is None else f"{value:.3f}" for value in values)


@pytest.mark.parametrize(
    "run", DRILLS["runs"], ids=lambda run: "-".join(map(str, run["cell"].values()))
)
def test_the_drills_table_is_its_results(run: dict[str, Any]) -> None:
    """Every cell of a run's row is computed from results.json, and no depth is left out."""
    depths, evd = run["depths"], run["evd"]
    cells = [
        run["cell"]["target"],
        run["cell"]["domain"],
        ", ".join(str(depth["asked"]) for depth in depths),
        figures([depth["accuracy"]["value"] for depth in depths], ", "),
        figures([evd["value"]["value"]], ""),
        figures([evd["clustered"]["low"], evd["clustered"]["high"]], " to "),
        run["stop"],
    ]
    assert f"| {' | '.join(cells)} |" in README


@pytest.mark.parametrize("study", ["ddft-local", "depthcharge-local", "program-local"])
def test_the_verdict_shown_is_the_studys(study: str) -> None:
    """Cells, calls and the fingerprint that the README prints are the study's, in a replay.

    So is how many numbers this release has beside the recorded ones.
    """
    line = replay(find_study(study, ROOT), verify_checksums=True).line
    wanted = line[: line.rindex(", ", 0, line.index(" s. This"))]
    assert wanted in re.sub(r"\s+", " ", README)


def test_what_the_drills_paragraph_counts_is_the_results() -> None:
    """Questions, missing verdicts, and the depths that fell short."""
    depths = [depth for run in DRILLS["runs"] for depth in run["depths"]]
    planned, asked = (sum(depth[name] for depth in depths) for name in ("planned", "asked"))
    short = sum(depth["asked"] < depth["planned"] for depth in depths)
    words = (
        f"{asked} of {planned} questions have a verdict; {short} of {len(depths)} depths fell short"
    )
    assert words in re.sub(r"\s+", " ", README)


def test_every_script_named_is_there() -> None:
    """A command that the README tells to run exists."""
    for name in set(re.findall(r"scripts/([a-z_-]+(?:\.py)?)", README)):
        assert (ROOT / "scripts" / name).is_file(), name


@pytest.mark.parametrize("name", ["CognitiveProfiler", "DepthCharge"])
def test_the_snippets_run_offline(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of the README run as they stand, on the bundled studies."""
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    [snippet] = [block for block in blocks if name in block]
    monkeypatch.chdir(ROOT)
    exec(compile(snippet, "README.md", "exec"), {})


def test_the_commands_run_as_printed(tmp_path: Path) -> None:
    """Every command of the shell blocks runs in a clean clone and ends with its exit code.

    `harness` is a command from where the README says so, not before. The models are a provider on
    this machine; only scripts/test, which is this run itself, is left out.
    """
    activated = False
    with Loopback(Provider()) as server:
        make_clone(tmp_path, server.url)
        for words, code in printed_commands():
            if words == ACTIVATION:
                activated = True
            if words in (ACTIVATION, "scripts/test"):
                continue
            done = run_printed(tmp_path, words, activated=activated)
            assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
    assert activated


def test_an_old_python_is_told_before_anything_is_installed(tmp_path: Path) -> None:
    """Exit 2 with what is needed, and no .venv that the right Python would then keep."""
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(ROOT / "scripts/install", tmp_path / "scripts")
    old = tmp_path / "python3.10"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": str(old)}
    done = subprocess.run([script], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "harness needs Python 3.11 or later" in done.stderr
    assert not (tmp_path / ".venv").exists()
