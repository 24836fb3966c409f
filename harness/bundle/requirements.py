"""The versions of everything that runs here, for who wants the same numbers to the byte."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from harness import version

ITSELF = "harness"
_requirement = re.compile(r"^\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?")
_pin = re.compile(r"^\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*==", re.MULTILINE)
_extra = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def pinned() -> str:
    """Return a requirements file with what harness needs, directly or not, as installed here.

    What is asked for on other platforms only, and so is not installed, is left out.
    """
    versions: dict[str, str] = {}
    waiting = list(_wanted(_own(), frozenset()))
    seen = set(waiting)
    while waiting:
        name, extras = waiting.pop()
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        needs = set(_wanted(metadata.requires(name) or (), extras)) - seen
        waiting += needs
        seen |= needs
    return "".join(f"{name}=={versions[name]}\n" for name in sorted(versions))


def pins_all(lock: str) -> bool:
    """Return whether a requirements file gives one version of each thing that harness asks for.

    One that does not is some other project's.
    """
    pinned_names = {_normal(name) for name in _pin.findall(lock)}
    return pinned_names.issuperset(name for name, _ in _wanted(_own(), frozenset()))


def _own() -> list[str]:
    """Return the requirements of harness itself, installed or run from its sources."""
    try:
        return metadata.requires(ITSELF) or []
    except metadata.PackageNotFoundError:
        project = Path(version.__file__).parent.parent / "pyproject.toml"
        listed: list[str] = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
        return listed


def _wanted(lines: Iterable[str], extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Return names and extras of requirements, those of an extra only where it is asked for."""
    for line in lines:
        requirement, _, marker = line.partition(";")
        of_extra = _extra.search(marker)
        match = _requirement.match(requirement)
        if match and (of_extra is None or of_extra[1] in extras):
            more_extras = frozenset(
                extra.strip() for extra in (match[2] or "").split(",") if extra.strip()
            )
            yield _normal(match[1]), more_extras


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
