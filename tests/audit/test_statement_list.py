"""Sixty statements of papers in their usual printed forms, each true once and false once."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from audit.claim_text import finding

STATEMENTS = tomllib.loads((Path(__file__).parent / "statements.toml").read_text(encoding="utf-8"))[
    "statement"
]
NAMES = [f"{number}-{entry['check']}" for number, entry in enumerate(STATEMENTS, 1)]


def _verdict(entry: dict[str, Any], side: str) -> str:
    keys = {key: entry[key] for key in entry if key not in ("form", "from", "true", "false")}
    return finding(keys.pop("check"), entry[side], **keys).verdict


def test_the_list_is_long_and_its_forms_are_of_many_papers() -> None:
    """There are 60 statements or more, in forms of at least 20 papers."""
    papers = {
        number for entry in STATEMENTS if (number := entry["form"].partition("arXiv ")[2][:10])
    }
    assert len(STATEMENTS) >= 60
    assert len(papers) >= 20


@pytest.mark.parametrize("entry", STATEMENTS, ids=NAMES)
def test_a_true_statement_is_never_contradicted(entry: dict[str, Any]) -> None:
    """What is printed from its unrounded figures is not contradicted.

    Only a mean whose weights nobody states is not checkable.
    """
    verdict = _verdict(entry, "true")
    unstated = entry["check"] == "mean_of" and "weights" not in entry
    assert verdict in (
        ("not checkable",) if unstated else ("reproduced", "reproduced*", "possible")
    )


@pytest.mark.parametrize("entry", STATEMENTS, ids=NAMES)
def test_the_nearest_false_statement_is_contradicted(entry: dict[str, Any]) -> None:
    """The nearest figure that no rounding and no usual convention allows is contradicted."""
    assert _verdict(entry, "false") == "contradicted"
