"""docs/audit.md: every shell block runs as it is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
BLOCK = re.compile(r"```bash\n(.*?)```", re.DOTALL)


def test_every_block_runs_and_ends_as_it_says(tmp_path: Path) -> None:
    """In the page's order, in one folder; a block ends with 1 where it says so, else with 0."""
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    command = tmp_path / "bin" / "harness"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    root = str(PAGE.parents[1])
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    outputs = []
    for block in blocks:
        done = subprocess.run(
            ["sh", "-c", block],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            timeout=120,
        )
        last = block.strip().splitlines()[-1]
        assert done.returncode == ("exit code 1" in block), f"{last}\n{done.stdout}{done.stderr}"
        outputs.append(done.stdout)
    assert len(blocks) == 3
    assert "55.3" in outputs[0]
    assert "53.53" in outputs[0]
    assert " 1 contradicted" in outputs[1]
