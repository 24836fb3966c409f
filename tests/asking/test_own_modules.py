"""What only one provider or one kind of source knows stands in its module, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import registry
from harness.asking.models.provider import Provider, provider_of
from harness.asking.sources.source_kind import SourceKind, kind_of
from harness.errors import UsageError

HARNESS = Path(registry.__file__).parent
ROWS = {**registry.BUILT_IN["harness.providers"], **registry.BUILT_IN["harness.sources"]}
NAMES = re.compile(rf"(?i)\b({'|'.join({name.partition('-')[0] for name in ROWS})})")
# They serve or search in the form of one kind, which their users must be told.
SPEAK_A_FORM = (
    "corpus/shapes.py", "corpus/site.py", "cli/corpus.py", "jury/trap_check.py", "cli/calibrate.py",
)  # fmt: skip


def named_in(path: Path) -> list[str]:
    """Return the lines of a file that name a provider or a kind of source."""
    lines = path.read_text("utf-8").splitlines()
    return [
        f"{path.relative_to(HARNESS)}:{number}: {line.strip()}"
        for number, line in enumerate(lines, 1)
        if NAMES.search(line)
    ]


def own_modules() -> Iterator[Path]:
    yield HARNESS / "registry.py"
    for row in ROWS.values():
        module = row.partition(":")[0].removeprefix("harness.")
        yield HARNESS / f"{module.replace('.', '/')}.py"


def test_no_name_stands_outside_its_own_module() -> None:
    """Code, comments and messages alike: whoever adds one touches one file, and its row."""
    excepted = {*own_modules(), *(HARNESS / name for name in SPEAK_A_FORM)}
    found = [line for path in sorted(HARNESS.rglob("*.py")) if path not in excepted
             for line in named_in(path)]  # fmt: skip
    assert found == []


def test_what_is_excepted_needs_it() -> None:
    """Each file that is left out of the search has a name in it."""
    assert all(named_in(HARNESS / name) for name in SPEAK_A_FORM)


@pytest.mark.parametrize("name", registry.names("harness.providers"))
def test_every_provider_is_one(name: str) -> None:
    """A name of the registry leads to an object that says what a provider says."""
    assert isinstance(provider_of(name), Provider)


@pytest.mark.parametrize("name", registry.names("harness.sources"))
def test_every_kind_of_source_is_one(name: str) -> None:
    """A name of the registry leads to an object that says what a kind of source says."""
    assert isinstance(kind_of(name), SourceKind)


def test_an_entry_point_that_is_no_provider_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its type and what was expected are named, of a kind of source too."""
    monkeypatch.setitem(registry.BUILT_IN["harness.providers"], "odd", "json:dumps")
    monkeypatch.setitem(registry.BUILT_IN["harness.sources"], "odd", "json:dumps")
    with pytest.raises(UsageError, match=r"provider 'odd'.*is a function; expected.*Provider"):
        provider_of("odd")
    with pytest.raises(UsageError, match=r"source 'odd'.*is a function; expected.*SourceKind"):
        kind_of("odd")
