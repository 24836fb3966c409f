"""The {names} that each prompt of a drill is filled with; a prompt not here is sent as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.results.depthcharge import TIERS

LIST = ("domain", "count", "had")
EVALUATED = ("question", "claim", "quote", "expected", "answer")

PLACEHOLDERS: Mapping[str, Sequence[str]] = {
    "extractor_system": ("domain",),
    "aspects": LIST,
    "concepts": (*LIST, "question", "answer"),
    "subtopics": (*LIST, "topic"),
    "question": ("topic", "level", "title", "passage", "domain"),
    "answerable": ("title", "passage", "question"),
    "cloze": ("title", "domain", "sentence"),
    **{f"level_{tier}": ("start", "end") for tier in TIERS},
    "target_system": ("domain",),
    "evaluator_task": EVALUATED,
    "evaluator_word_task": EVALUATED,
    "evaluator_unsupported": ("quote",),
    "again": ("problem",),
}
