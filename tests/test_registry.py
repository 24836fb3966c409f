"""Protocols, providers and sources that another package brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import registry
from harness.errors import UsageError


def _install(
    folder: Path, package: str, points: str, code: str | None = "WORD = 'there'\n"
) -> None:
    """Put a package with entry points into a folder, in the form that an installer leaves."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    if code is not None:
        (folder / f"{package}.py").write_text(code)


def test_an_installed_package_brings_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name of an installed package's entry points is listed and loaded like our own."""
    _install(tmp_path, "brought_source", "[harness.sources]\nlibrary = brought_source\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "library" in registry.names("harness.sources")
    assert registry.load("harness.sources", "library").WORD == "there"


def test_an_unknown_name_lists_those_that_are_there() -> None:
    """A name that nobody has is a usage error with the names that could have been meant."""
    with pytest.raises(
        UsageError, match=r"protocol 'dfdt' is unknown; there are: ddft, depthcharge"
    ):
        registry.load("harness.protocols", "dfdt")


def test_a_package_takes_no_name_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that calls its protocol ddft is named, and nothing is loaded in its place."""
    _install(tmp_path, "another_ddft", "[harness.protocols]\nddft = another_ddft\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(
        UsageError, match=r"package another_ddft: .* 'ddft' has a name that is taken"
    ):
        registry.names("harness.protocols")


def test_a_package_that_cannot_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point to a module that is gone is a usage error with the package's name."""
    _install(tmp_path, "half_gone", "[harness.providers]\nours = half_gone\n", code=None)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match=r"package half_gone: .* cannot be loaded: No module"):
        registry.load("harness.providers", "ours")
