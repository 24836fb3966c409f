"""How results may grow: which fields a later form of results.json has that an earlier has not.

A study that was published keeps its results. What they lack because their release did not compute
it is named, and nothing else may be absent: a field that is not listed here was taken out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.results.shared import RESULTS_VERSION

FORM = ("results_version", "transcripts")  # say how results were written; no numbers
ADDED: Mapping[int, frozenset[str]] = {
    2: frozenset(
        {
            *FORM,
            "answers",
            "fallbacks",
            "jury",
            "notices",
            "analysis.accuracy_rankings[].coefficient",
            "analysis.cells[].lookups",
            "analysis.cells[].role_costs",
            "analysis.cells[].short",
            "analysis.cells[].two_way",
            "analysis.cells[].two_way_se",
            "analysis.differences[].two_way",
            "analysis.differences[].two_way_se",
            "analysis.domain_rankings[].coefficient",
            "analysis.smaller_q",
            "analysis.jury.heading",
            "analysis.jury.self_consistency",
            "analysis.other_thetas[].cells[].short",
            "analysis.targets[].short",
            "cells[].probes[].form",
            "cells[].replies",
            "cells[].turns[].missing",
            "rules.competent_above",
            "rules.factual_above",
            "rules.incoherent_below",
            "rules.robust_above",
            "rules.survival_cut",
            "rules.unverifiable_limit",
            "runs[].evd.if_questions_were_independent",
            "runs[].evd.seed_spread",
            "runs[].evd.two_way",
            "runs[].evd.two_way_se",
            "runs[].short",
        }
    )
}
_entry = re.compile(r"\[[^\[\]]*\]")


def is_grown(recorded: Any) -> bool:
    """Tell whether results were recorded under an older form, which may lack newer fields."""
    version = recorded.get("results_version", 1) if isinstance(recorded, dict) else RESULTS_VERSION
    return isinstance(version, int) and 1 <= version < RESULTS_VERSION


def is_added(where: str, version: int = 1) -> bool:
    """Tell whether a field, as a difference names it, came after a form of results.json."""
    pattern = _entry.sub("[]", where)
    return any(pattern in added for later, added in ADDED.items() if later > version)
