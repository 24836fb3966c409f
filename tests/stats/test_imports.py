"""What the statistics load."""

import subprocess
import sys
from pathlib import Path

import harness.stats

MODULES = sorted(path.stem for path in Path(harness.stats.__path__[0]).glob("[a-z]*.py"))


def test_importing_loads_no_scipy_stats() -> None:
    """All of harness.stats imports without scipy.stats, which takes more than a second."""
    program = "import sys, importlib\nfor n in sys.argv[1:]: importlib.import_module(n)\n"
    program += "print('scipy.stats' in sys.modules, 'scipy.special' in sys.modules)"
    names = [f"harness.stats.{name}" for name in MODULES]
    done = subprocess.run(
        [sys.executable, "-c", program, *names], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
    assert names
