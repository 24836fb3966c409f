"""What only one protocol knows stands in its own package, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import registry
from harness.errors import UsageError
from harness.protocols.registry import protocol_named
from harness.protocols.seam import StudyProtocol

HARNESS = Path(registry.__file__).parent
NAMES = tuple(registry.BUILT_IN["harness.protocols"])
ALSO_A_WORD = {"program": r"""["']program["']|protocols.program"""}  # stands in every text
# The form of each protocol's results, the classes of the Python interface that bear the protocols'
# names, and the tools for DDFT's jury.
HAVE_A_NAME = (
    "registry.py", "__init__.py", "profilers.py",
    "results/__init__.py", "results/ddft.py", "results/depthcharge.py",
    "proxy/endpoints.py", "proxy/reverse.py",
    "jury/calibrate.py", "jury/trap_check.py",
)  # fmt: skip


def named_in(path: Path, names: tuple[str, ...] = NAMES) -> list[str]:
    """Return the lines of a file that name a protocol."""
    pattern = re.compile(f"(?i)({'|'.join(ALSO_A_WORD.get(name, name) for name in names)})")
    return [
        f"{path.relative_to(HARNESS)}:{number}: {line.strip()}"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_protocols_name_stands_outside_its_own_package() -> None:
    """Code, comments and messages alike: whoever adds one adds a package, and its row."""
    own = [HARNESS / "protocols" / name for name in NAMES]
    excepted = {HARNESS / name for name in HAVE_A_NAME}
    lines = [
        line
        for path in sorted(HARNESS.rglob("*.py"))
        if path not in excepted and not any(path.is_relative_to(folder) for folder in own)
        for line in named_in(path)
    ]
    assert lines == []


def test_what_is_excepted_needs_it() -> None:
    """Each file that is left out of the search has a name in it."""
    assert [name for name in HAVE_A_NAME if not named_in(HARNESS / name)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_protocol_names_no_other(name: str) -> None:
    """No package of a protocol knows that there is another."""
    others = tuple(other for other in NAMES if other != name)
    folder = HARNESS / "protocols" / name
    assert [line for path in folder.rglob("*.py") for line in named_in(path, others)] == []


@pytest.mark.parametrize("name", NAMES)
def test_our_protocols_have_every_name_of_the_seam(name: str) -> None:
    """They are modules, which take no default from the class: each has all that is asked of one."""
    public = {word for word in vars(StudyProtocol) if not word.startswith("_")}
    public |= set(StudyProtocol.__annotations__)
    public -= {"PROMPTS"}  # which only the default of `fresh` reads
    assert {word for word in public if not hasattr(protocol_named(name), word)} == set()


def test_an_entry_point_that_is_no_protocol_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its type and what was expected are named."""
    monkeypatch.setitem(registry.BUILT_IN["harness.protocols"], "odd", "json:dumps")
    with pytest.raises(UsageError, match=r"protocol 'odd'.*is a function; expected.*StudyProtocol"):
        protocol_named("odd")
