"""docs/internals.md holds what it says: its packages are installed as they stand, and tested."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "internals.md"
BLOCK = re.compile(
    r"^```(?:python|toml)\n# ([\w-]+\.(?:py|toml)).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
EDIT = re.compile(
    r"^```python\n# (harness/\S+\.py), (above|below|in the place of) \"([^\n]+)\"\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
POINT = re.compile(r'^\[project\.entry-points\."(.+?)"\]\n(\w+) = "(.+?)"$', re.MULTILINE)


def install(folder: Path) -> None:
    """Write the page's modules into a folder, and its entry points as an installer leaves them."""
    text = PAGE.read_text("utf-8")
    for name, code in BLOCK.findall(text):
        if name.endswith(".py"):
            (folder / name).write_text(code, "utf-8")
    for group, name, target in POINT.findall(text):
        info = folder / f"{target.partition(':')[0]}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")


def test_the_pages_packages_pass_the_pages_tests(tmp_path: Path) -> None:
    """A provider, a kind of source and a protocol work, and no file of harness knows them.

    The protocol goes through record, replay, analyze, diff, pack, report and export as commands.
    """
    install(tmp_path)
    tests = sorted(path.name for path in tmp_path.glob("test_*.py"))
    assert tests == ["test_harness_library.py", "test_harness_quiz.py", "test_harness_talk.py"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "5 passed" in run.stdout


def edited(folder: Path, *, listed: bool) -> None:
    """Put a copy of the package with the page's metric into a folder, beside the bundled studies.

    listed: whether results are said to have grown by it.
    """
    for name in ("harness", "cassettes", "checksums"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name, where, line, code in EDIT.findall(PAGE.read_text("utf-8")):
        if listed or "frozenset" not in code:
            edit(folder / name, where, line, code)


def edit(path: Path, where: str, beginning: str, code: str) -> None:
    """Put code above or below the first line that begins so, or in its place."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.lstrip().startswith(beginning))
    lines[at : at + 1] = {
        "above": [code, lines[at]],
        "below": [lines[at], code],
        "in the place of": [code],
    }[where]
    path.write_text("".join(lines), "utf-8")


def replayed(folder: Path) -> subprocess.CompletedProcess[str]:
    """Replay the bundled studies with the package of a folder."""
    return subprocess.run(
        [sys.executable, "-m", "harness", "replay", "--verify-checksums"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def more_than_recorded(verdicts: str) -> dict[str, int]:
    """Return by study how many numbers are computed that were not recorded."""
    counts = re.findall(r"^(\S+): OK: .*?numbers identical \((\d+) more", verdicts, re.MULTILINE)
    return {study: int(count) for study, count in counts}


def test_a_metric_added_later_leaves_every_published_study_ok(tmp_path: Path) -> None:
    """The page's metric, in a copy of the package: both bundled studies hold, and name it."""
    edited(tmp_path, listed=True)
    before, after = replayed(ROOT), replayed(tmp_path)
    assert (before.returncode, after.returncode) == (0, 0), after.stdout + after.stderr
    old, new = more_than_recorded(before.stdout), more_than_recorded(after.stdout)
    assert new["depthcharge-local"] == old["depthcharge-local"]
    assert new["ddft-local"] > old["ddft-local"]


def test_a_metric_that_no_list_names_is_a_difference(tmp_path: Path) -> None:
    """What is absent from results, and not listed as added, was taken out: the study fails."""
    edited(tmp_path, listed=False)
    run = replayed(tmp_path)
    assert run.returncode == 1
    assert "trap_rate: recorded nothing" in run.stdout
