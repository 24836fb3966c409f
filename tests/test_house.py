"""The house: who may import whom, what stays light, how long a file may get."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from house import breaches, timed

HARNESS = Path(__file__).parent.parent / "harness"
HEAVY = ("numpy", "scipy", "pydantic", "httpx", "click", "msgspec", "rich")
LONG = "def long():\n" + "    print(1)\n" * 290
BREACHES = {
    "upwards": ("protocols/ddft/dialogue/traps.py", "from harness.recording import guard as _g"),
    "upwards, relative": ("protocols/ddft/dialogue/traps.py", "from ....recording import guard"),
    "to the top, relative": ("protocols/ddft/dialogue/traps.py", "from ....run import record"),
    "to another protocol": (
        "protocols/ddft/dialogue/traps.py",
        "from harness.protocols.depthcharge.drill import paths as _p",
    ),
    "a new package": ("stats/ranks.py", "import yaml"),
    "the package root": ("protocols/ddft/dialogue/traps.py", "import harness"),
    "a circle inside a room": ("stats/columns.py", "from harness.stats import kendall as _k"),
    "a long function": ("stats/seeds.py", LONG),
    "a long file": ("stats/seeds.py", "x = 1\n" * 400),
    "from what one does with a study to another such room": (
        "diff/schema.py",
        "from harness.bundle import pack as _p",
    ),
    "a room that is not in the house": ("attic/box.py", "x = 1"),
}


def test_the_house_is_as_it_is_drawn() -> None:
    """Imports run downwards and to known packages, no module imports itself, no file is a hall."""
    assert breaches(HARNESS) == []


@pytest.mark.parametrize("name", BREACHES)
def test_each_kind_of_breach_is_noticed(name: str, tmp_path: Path) -> None:
    """One line that breaks a rule, in a copy of the package, is found and its file named."""
    place, line = BREACHES[name]
    house = tmp_path / "harness"
    shutil.copytree(HARNESS, house, ignore=shutil.ignore_patterns("data", "__pycache__"))
    path = house / place
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text("utf-8") if path.exists() else "") + f"\n{line}\n", "utf-8")
    module = "harness." + place.removesuffix(".py").replace("/", ".")
    assert any(words.startswith(module) for words in breaches(house))


def test_importing_the_package_is_light() -> None:
    """`import harness` loads none of the heavy libraries."""
    program = "import sys, harness; print(*[n for n in sys.argv[1:] if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program, *HEAVY], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_a_replays_processes_load_no_scipy() -> None:
    """What replays dialogues is light: statistics load scipy where they are computed, once."""
    program = (
        "import sys, harness.run.replay, harness.protocols.ddft.protocol\n"
        "print(*[name for name in ('scipy', 'matplotlib', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_help_loads_no_more_than_click() -> None:
    """`harness --help` loads neither numpy nor httpx nor pydantic."""
    program = (
        "import sys\nfrom harness.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print('loaded:', *[n for n in ('numpy', 'httpx', 'pydantic', 'rich', 'msgspec')"
        " if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("loaded:")
    assert "replay" in done.stdout
    assert "130" in done.stdout


def test_no_registry_host_is_written_anywhere() -> None:
    """Lock files and scripts name packages, never the place they come from."""
    root = HARNESS.parent
    texts = [
        *root.glob("*.lock"),
        *root.glob("*.toml"),
        *(path for path in (root / "scripts").iterdir() if path.is_file()),
    ]
    hosts = ("pythonhosted", "pypi" + ".org", "index-url", "find-links")
    for path in texts:
        text = path.read_text("utf-8").replace("--no-emit-index-url", "")
        text = text.replace("--no-emit-find-links", "")
        assert not [host for host in hosts if host in text], path


MOST_ANY = 250


def test_any_is_used_sparingly() -> None:
    """What a value is stands in its type; the number of exceptions only goes down."""
    uses = [
        node
        for path in HARNESS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Name) and node.id == "Any"
    ]
    assert len(uses) <= MOST_ANY


def test_no_test_holds_a_clock_to_a_limit() -> None:
    """That something was waited for may be asserted, that it was quick never: see scripts/bench."""
    tests = Path(__file__).parent
    assert [place for path in sorted(tests.rglob("test_*.py")) for place in timed(path)] == []


def test_a_clock_held_to_a_limit_is_seen(tmp_path: Path) -> None:
    """An upper limit of a measured time is found; a lower one and a deadline are not."""
    path = tmp_path / "test_x.py"
    path.write_text(
        "assert time.monotonic() - began < 3\n"
        "assert 1 <= perf_counter() - began < 3\n"
        "assert time.monotonic() - began >= 0.4\n"
        "assert time.monotonic() < deadline\n"
    )
    assert timed(path) == [f"{path}:1", f"{path}:2"]


def test_every_test_file_has_a_name_of_its_own() -> None:
    """Two of one name cannot be collected together."""
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
