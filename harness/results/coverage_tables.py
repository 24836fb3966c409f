"""What is there and what is missing as tables, the same for every protocol."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results.answers import KINDS, AnswerCounts, Answers, words_of
from harness.results.bounds import Bound
from harness.results.fallbacks import Fallbacks
from harness.results.shared import Missing, Share, Value
from harness.results.table import Table, TableCell, TableColumn, columns

SECTION = "coverage"
BOUNDS = "What the missing judgements could change"


def states_table(missing: Missing) -> Table:
    """Return what became of the judgements, by state, and the share that is missing."""
    rows: list[list[TableCell]] = [[state, count, None] for state, count in missing.states.items()]
    share = Value(missing.share, missing.judgements)
    if not missing.judgements:
        share = Value(None, 0, "nothing was judged")
    rows.append([f"missing in all (limit {missing.limit:.2%})", missing.missing, share])
    share_column = TableColumn("share", Value, digits=2, has_n=True, in_percent=True)
    names = columns("state", TableColumn("count", int), share_column)
    return Table("What became of the judgements", names, rows, section=SECTION, key="judgements")


def answers_table(counts: AnswerCounts) -> Table:
    """Return the answers of each examined model by kind, and how many of them are missing."""
    kinds = [kind for kind in KINDS if kind in counts.whole.kinds]
    kinds += sorted(set(counts.whole.kinds) - set(kinds))
    names = columns(
        "model",
        *(TableColumn(words_of(kind), int) for kind in kinds),
        TableColumn("missing", Share, digits=1, in_percent=True),
    )
    rows: list[list[TableCell]] = [
        [answers.of or "all", *(answers.kinds.get(kind, 0) for kind in kinds), _missing(answers)]
        for answers in (*counts.models, counts.whole)
    ]
    return Table("Answers by their kind", names, rows, section=SECTION, key="answers")


def _missing(answers: Answers) -> Share:
    share = Value(answers.share, answers.answers)
    if not answers.answers:
        share = Value(None, 0, "there is no answer")
    return Share("", answers.missing, share)


def fallback_tables(fallbacks: Fallbacks) -> list[Table]:
    """Return each kind with its share and limit, and the replies of each model in a role."""
    kinds: list[list[TableCell]] = [
        [
            fallback.name,
            Share("", fallback.count, fallback.share),
            "none" if fallback.limit is None else f"{fallback.limit:.1%}",
        ]
        for fallback in fallbacks.shares
    ]
    counts = ("calls", "second asks", "usable", "repaired")
    replies: list[list[TableCell]] = [
        [
            reply.role,
            reply.model,
            *(getattr(reply, name.replace(" ", "_")) for name in counts),
            ", ".join(f"{count} {state}" for state, count in reply.unusable.items()) or "0",
        ]
        for reply in fallbacks.replies
    ]
    shares = Table(
        "Fallbacks: asked again, repaired, or replaced",
        columns("what", TableColumn("share", Share), "limit"),
        kinds,
        section=SECTION,
        key="fallbacks",
    )
    names = columns("role", "model", *(TableColumn(name, int) for name in counts), "unusable")
    by_role = Table("Replies that need a form", names, replies, section=SECTION, key="replies")
    return [shares, by_role] if replies else [shares]


def bounds_table(bounds: Sequence[Bound], about: str) -> Table:
    """Return what the missing judgements could change at most.

    about: how that was computed, or why there is nothing to compute.
    """
    names = columns(
        "of",
        "number",
        TableColumn("as recorded", Value, key="recorded"),
        TableColumn("at least", Value),
        TableColumn("at most", Value),
    )
    rows: list[list[TableCell]] = [
        [bound.place, bound.measure, bound.found, bound.low, bound.high] for bound in bounds
    ]
    if not rows:
        return Table(BOUNDS, names, rows, section=SECTION, key="bounds", empty=about)
    return Table(BOUNDS, names, rows, about, SECTION, key="bounds")
