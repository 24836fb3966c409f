"""docs/internals.md holds what it says: its packages are installed as they stand, and tested."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "internals.md"
BLOCK = re.compile(
    r"^```(?:python|toml)\n# (\S+\.(?:py|toml)).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL
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
    """The provider and the kind of source record and replay, and no file of harness knows them."""
    install(tmp_path)
    tests = sorted(path.name for path in tmp_path.glob("test_*.py"))
    assert tests == ["test_harness_library.py", "test_harness_talk.py"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "4 passed" in run.stdout
