"""The words of a drill, each said once, with the study's own thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.results.glossary import Term


def glossary(rules: Mapping[str, Any]) -> list[Term]:
    """Return what a study's numbers are called and mean, by the rules of its results."""
    return [
        Term("A(d)", "the share of right answers at depth d, of those with a verdict"),
        Term("S(d)", "the share of questions that hold down to depth d: A(1) x ... x A(d)"),
        Term("EVD", "Expected Valid Depth, the sum of S(d) over the depths of a run"),
        Term("theta", f"a run ends with its first S(d) below {rules['theta']:g}"),
        Term("accuracy", "right answers of all that have a verdict"),
        Term("tier", "how special the knowledge is that a depth asks for, COMMON to CUTTING_EDGE"),
        Term("branch", "an aspect of the domain that a run begins with; its questions go deeper"),
        Term("deal", "a try to make a question; where no source has a fact, it is dealt anew"),
        Term("unverifiable", "said of a question that could not be made, for want of a fact"),
        Term("+", "at least this: a run ended before its knowledge did"),
    ]
