"""Run every command that gives numbers or words of a study, and see that it refuses a damaged one.

Each is run in this process by its own entry, and so is the same asked from Python.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from click.testing import CliRunner

from harness import CognitiveProfiler, DepthCharge
from harness.cli import main as harness
from harness.errors import HarnessError, RunStopped
from harness.protocols.depthcharge.study_table import depthcharge_plan
from harness.study.folder import Study

COMMANDS = {
    "replay": "replay STUDY",
    "verify": "verify STUDY",
    "analyze": "analyze STUDY",
    "analyze --json": "analyze STUDY --json",
    "export csv": "export STUDY --format csv -o OUT/a.csv",
    "export eee": "export STUDY --format eee -o OUT/eee",
    "diff": "diff STUDY STUDY",
    "show": "show STUDY",
    "report": "report STUDY -o OUT/a.html",
    "pack": "pack STUDY -o OUT/a.tar.zst",
    "score": "score STUDY",
    "calibrate": "calibrate STUDY export -o OUT/a.csv",
    "audit": "audit ddft-local --data RESULTS",
}
API = "from Python"


def fault_of(study: Study, name: str, file: str) -> str:
    """Return what is wrong with how a command takes a damaged file of this name; "" for nothing.

    It is to end with exit code 1 (or 2, of a study.toml that is none) and to name the file.
    """
    out = study.root / "out"
    out.mkdir()
    words, end = _asked(study) if name == API else _run(study, name, out)
    written = [path.name for path in out.iterdir()]
    shutil.rmtree(out)
    if end in ("exit 1", "exit 2") and not written and file in words:
        return ""
    if name == "score" and file == "study.toml" and (end == "exit 1" or "unverified: " in words):
        return ""  # it is for a study.toml that was edited, and says so
    return f"`{name}` ends with {end}, wrote {written}, said {words[-200:]!r}"


def _run(study: Study, name: str, out: Path) -> tuple[str, str]:
    """Return what a command says, and how it ends."""
    filled = {"STUDY": study.name, "OUT": str(out), "RESULTS": str(study.results)}
    words = re.sub("STUDY|OUT|RESULTS", lambda word: filled[word[0]], COMMANDS[name]).split()
    root = [] if name == "audit" else ["--root", str(study.root)]
    done = CliRunner().invoke(harness, [*words, *root])
    ended = done.exception is None or isinstance(done.exception, SystemExit)
    return done.output, f"exit {done.exit_code}" if ended else f"a traceback: {done.exception!r}"


def _asked(study: Study) -> tuple[str, str]:
    """Return what the same says that is asked from Python, and how it ends."""
    try:
        if study.file.protocol == "ddft":
            subject = study.file.plan.examined[0]
            CognitiveProfiler(subject, str(study.folder)).run_complete_assessment()
        else:
            plan = depthcharge_plan(study)
            DepthCharge(plan.targets[0], str(study.folder)).probe(plan.domains[0])
    except (HarnessError, RunStopped) as error:
        return str(error), f"exit {error.exit_code}"
    except Exception as error:  # noqa: BLE001  a traceback is what is looked for
        return "", f"a traceback: {error!r}"
    return "", "exit 0"
