"""What a study found, in sentences: its protocol's own, and what is missing."""

from __future__ import annotations

from typing import Any

from harness.protocols.registry import protocol_of
from harness.results.digits import plural
from harness.results.shared import Missing
from harness.study.folder import Study


def findings_of(study: Study, results: Any) -> list[str]:
    """Return the sentences, most important first."""
    return [*protocol_of(study).findings(results), *missing_sentence(results.missing)]


def missing_sentence(missing: Missing) -> list[str]:
    """Return that judgements are missing, if any are."""
    if not missing.missing:
        return []
    return [
        f"{missing.missing:,} of {plural(missing.judgements, 'judgement')} are missing "
        f"({missing.share:.1%}, of which {missing.limit:.1%} are allowed); what they could change "
        "at most is listed with the coverage."
    ]
