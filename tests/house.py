"""The house as a test sees it: which room a file is in, what it imports, and what is a breach."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

EVERYONE = frozenset({"decoding", "errors", "files", "json_files", "results", "version"})
HARNESS = "harness"
LONGEST_FILE, LONGEST_FUNCTION = 400, 90  # lines


class Room(NamedTuple):
    """What the files of a room may import: rooms of the house, and packages of others."""

    rooms: frozenset[str]
    packages: frozenset[str] = frozenset()


def room(rooms: Iterable[str] = (), packages: Iterable[str] = ()) -> Room:
    """Make a room."""
    return Room(frozenset(rooms), frozenset(packages))


PROTOCOL = room(
    {*EVERYONE, "asking", "fitness", "forms", "page", "protocols", "stats", "study"},
    {"msgspec", "numpy", "pydantic"},
)
OF_A_STUDY = {*EVERYONE, "asking", "protocols", "proxy", "recording", "run", "stats", "study"}
HOUSE: Mapping[str, Room] = {
    "version": room(),
    "errors": room(),
    "placeholders": room(),
    "decoding": room({"errors"}, {"brotli", "zstandard"}),
    "files": room({"errors"}, {"filelock"}),
    "registry": room({"errors"}),
    "json_files": room({"errors"}, {"msgspec"}),
    "results": room({"errors", "json_files"}, {"msgspec"}),
    "forms": room(EVERYONE, {"pydantic"}),
    "recording": room(
        {"decoding", "errors", "files", "json_files"}, {"anyio", "httpx", "msgspec", "vcr"}
    ),
    "http_names": room({"recording"}, {"httpx", "pydantic"}),
    "proxy": room(
        {"asking", "decoding", "errors", "files", "recording", "registry"},
        {"h11", "httpx", "msgspec"},
    ),
    "stats": room({"errors", "files", "results"}, {"numpy", "scipy"}),
    "asking": room({*EVERYONE, "registry"}, {"httpx", "msgspec", "trafilatura"}),
    "corpus": room(EVERYONE, {"msgspec"}),
    "audit": room({*EVERYONE, "forms", "stats"}, {"numpy", "pydantic", "scipy"}),
    "fitness": room({*EVERYONE, "asking", "forms", "stats"}, {"pydantic"}),
    "study": room(
        {*EVERYONE, "asking", "forms", "http_names", "placeholders", "registry"},
        {"msgspec", "pydantic"},
    ),
    "page": room(EVERYONE, {"msgspec"}),
    "protocols": room({*EVERYONE, "asking", "page", "registry", "study"}),
    "protocols/ddft": PROTOCOL,
    "protocols/depthcharge": PROTOCOL,
    "protocols/program": room(
        {*EVERYONE, "asking", "forms", "page", "protocols", "study"}, {"msgspec", "pydantic"}
    ),
    "isolation": room({"errors"}),
    "run": room(
        {*EVERYONE, "asking", "fitness", "forms", "isolation", "protocols", "proxy",
            "recording", "study"},
        {"httpx", "msgspec"},
    ),
    "report": room({*OF_A_STUDY, "page"}, {"jinja2", "markupsafe", "matplotlib", "msgspec"}),
    "diff": room(OF_A_STUDY, {"msgspec", "numpy"}),
    "export": room(OF_A_STUDY, {"pyarrow"}),
    "bundle": room({*OF_A_STUDY, "report"}, {"httpx", "msgspec", "zstandard"}),
    "jury": room({*OF_A_STUDY, "protocols/ddft"}, {"httpx", "msgspec"}),
    "profilers": room(
        {*EVERYONE, "protocols/ddft", "protocols/depthcharge", "recording", "run", "study"}
    ),
    "api": room({*OF_A_STUDY, "bundle", "diff", "export", "report"}),
    "cli": room(
        {
            *EVERYONE, "api", "audit", "bundle", "corpus", "diff", "export", "jury", "protocols",
            "proxy", "recording", "report", "run", "study",
        },
        {"click", "msgspec", "rich"},
    ),
    "pytest_plugin": room({"recording"}, {"pytest"}),
    "__init__": room({"api", "errors", "profilers", "recording", "run", "version"}),
    "__main__": room({"cli"}),
}  # fmt: skip


def modules(house: Path) -> dict[str, Path]:
    """Return the files of a package by the names of their modules."""
    return {
        ".".join((house.name, *path.relative_to(house).with_suffix("").parts)): path
        for path in sorted(house.rglob("*.py"))
    }


def room_of(module: str) -> str:
    """Return the room of a module: its folder, of a protocol its own, or its name at the top."""
    parts = module.split(".")[1:]
    if parts[0] == "protocols" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0]


def imports(module: str, path: Path) -> Iterator[str]:
    """Yield the full names that a file imports, relative ones resolved."""
    package = module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        yield from _named(node, package)


def _named(node: ast.AST, package: list[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        name = ".".join([*base, *([node.module] if node.module else [])])
        if name != HARNESS:  # of the root, the names say what is meant
            yield name
        yield from (f"{name}.{alias.name}" for alias in node.names)


def breaches(house: Path) -> list[str]:
    """Return everything in a package that breaks the rules of the house, in words."""
    known = modules(house)
    found = [
        words
        for module, path in known.items()
        for words in (*_of_imports(module, path, known), *_of_length(module, path))
    ]
    return [*found, *_circles(known)]


def _of_imports(module: str, path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    here = room_of(module)
    rules = HOUSE.get(here)
    if rules is None:
        yield f"{module}: the room {here} is not in the house"
        return
    for name in imports(module, path):
        top = name.partition(".")[0]
        if top == HARNESS:
            yield from _of_import(module, here, rules, name, known)
        elif top not in sys.stdlib_module_names and top not in rules.packages:
            yield f"{module}: {here} imports the package {top}"


def _of_import(
    module: str, here: str, rules: Room, name: str, known: Mapping[str, Path]
) -> Iterator[str]:
    """Yield what is wrong with one import from the house itself."""
    target = next((one for one in (name, f"{name}.__init__") if one in known), "")
    if target.count(".") == 1 and target.endswith("__init__"):
        yield f"{module}: imports the package root"
    elif target and room_of(target) not in rules.rooms | {here}:
        yield f"{module}: {here} imports {name}"
    elif not target and name.count(".") == 1:
        yield f"{module}: imports {name} from the package root"


def _of_length(module: str, path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    if len(text.splitlines()) > LONGEST_FILE:
        yield f"{module}: is longer than {LONGEST_FILE} lines"
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if (node.end_lineno or node.lineno) - node.lineno >= LONGEST_FUNCTION:
            yield f"{module}.{node.name}: is longer than {LONGEST_FUNCTION} lines"


def _circles(known: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules that import each other, those under TYPE_CHECKING left out."""
    arrows = {
        module: {name for name in _at_run_time(module, path) if name in known and name != module}
        for module, path in known.items()
    }
    for module in arrows:
        if module in _reached(arrows, module):
            yield f"{module}: imports itself by way of others"


def _at_run_time(module: str, path: Path) -> Iterator[str]:
    """Yield what a module imports when it is loaded itself."""
    package = module.split(".")[:-1]
    for node in ast.parse(path.read_text("utf-8")).body:
        yield from _named(node, package)


def _reached(arrows: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(arrows[start])
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += arrows[module]
    return seen


def timed(path: Path) -> list[str]:
    """Return where a test file asserts that a measured time is below a limit."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    asserted = (node for node in nodes if isinstance(node, ast.Assert))
    return [f"{path}:{node.lineno}" for node in asserted if _is_limited(node.test)]


def _is_limited(test: ast.expr) -> bool:
    """Tell whether an assertion compares a difference of clock readings with something larger."""
    if not isinstance(test, ast.Compare):
        return False
    sides = [test.left, *test.comparators]
    smaller = [
        side for side, op in zip(sides, test.ops, strict=False) if isinstance(op, ast.Lt | ast.LtE)
    ]
    return any(
        isinstance(side, ast.BinOp) and isinstance(side.op, ast.Sub) and _reads_a_clock(side)
        for side in smaller
    )


def _reads_a_clock(side: ast.expr) -> bool:
    names = (getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(side))
    return any(name in ("monotonic", "perf_counter", "process_time") for name in names)
