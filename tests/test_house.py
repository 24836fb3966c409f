"""The house: who may import whom, what stays light, how long a file may get."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HARNESS = Path(__file__).parent.parent / "harness"
EVERYONE = {"decoding", "errors", "files", "json_files", "results", "version"}
MAY_IMPORT = {
    "__init__": {"api", "version"},
    "__main__": {"cli"},
    "version": set(),
    "errors": set(),
    "files": {"errors"},
    "decoding": {"errors"},
    "json_files": {"errors"},
    "results": {"errors", "json_files"},
    "forms": EVERYONE,
    "cuts": {"forms"},
    "http_names": {"recording"},
    "study_drill": {*EVERYONE, "forms", "asking", "placeholders"},
    "study_file": {*EVERYONE, "forms", "http_names", "cuts", "study_drill"},
    "study": {*EVERYONE, "forms", "study_file"},
    "prices": {*EVERYONE, "forms"},
    "texts": {*EVERYONE, "forms", "placeholders"},
    "placeholders": set(),
    "recording": {"decoding", "errors", "files", "json_files"},
    "stats": {"errors", "files", "results"},
    "asking": EVERYONE,
    "corpus": EVERYONE,
    "ddft": {*EVERYONE, "asking", "stats", "jury"},
    "depthcharge": {*EVERYONE, "asking", "stats", "jury"},
    "audit": {*EVERYONE, "forms", "stats"},
    "report": {*EVERYONE, "stats"},
    "bundle": {*EVERYONE, "recording"},
    "jury": {*EVERYONE, "forms", "stats"},
    "run": {
        *EVERYONE,
        "recording",
        "asking",
        "ddft",
        "depthcharge",
        "report",
        "bundle",
        "jury",
        "stats",
        "forms",
        "study",
        "study_file",
        "prices",
        "texts",
    },
    "api": {*EVERYONE, "run", "study", "recording"},
    "cli": {*EVERYONE, "run", "study", "corpus", "audit"},
}
ONLY_IN = {
    "httpx": {"recording", "asking", "run"},
    "click": {"cli"},
    "rich": {"cli"},
    "vcr": {"recording"},
    "trafilatura": {"asking"},
    "scipy": {"stats"},
    "jinja2": {"report"},
    "matplotlib": {"report"},
    "zstandard": {"bundle", "decoding"},
    "pyarrow": {"run"},
    "pydantic": {
        "forms",
        "cuts",
        "http_names",
        "study_drill",
        "study_file",
        "prices",
        "texts",
        "audit",
        "jury",
    },
}
HEAVY = ("numpy", "scipy", "pydantic", "httpx", "click", "msgspec", "rich")


def modules() -> list[Path]:
    return sorted(HARNESS.rglob("*.py"))


def room(path: Path) -> str:
    """Give the part of the house a file is in: its folder, or its own name at the top."""
    parts = path.relative_to(HARNESS).with_suffix("").parts
    return parts[0]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HARNESS)))
def test_imports_keep_their_direction(path: Path) -> None:
    """A file imports only from the rooms below its own, and never from the package root."""
    allowed = MAY_IMPORT[room(path)] | {room(path)}
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "harness" and len(parts) > 1:
            assert parts[1] in allowed, f"{path} imports {name}"
        if parts == ["harness"]:
            names = [n for n in imported(path) if n.startswith("harness.") and n.count(".") == 1]
            assert names, f"{path} imports the package root"
        assert room(path) in ONLY_IN.get(parts[0], {room(path)}), f"{path} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HARNESS)))
def test_a_file_is_one_noun(path: Path) -> None:
    """No file of the package is longer than 400 lines."""
    assert len(path.read_text("utf-8").splitlines()) <= 400


def test_importing_the_package_is_light() -> None:
    """`import harness` loads none of the heavy libraries."""
    program = "import sys, harness; print(*[n for n in sys.argv[1:] if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program, *HEAVY], capture_output=True, text=True, check=True
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
