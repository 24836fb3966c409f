"""Fallbacks as tables, the same for every protocol, on a terminal and on a page."""

from __future__ import annotations

from harness.results.fallbacks import Fallback, Fallbacks, Replies
from harness.results.table import Table


def fallback_tables(fallbacks: Fallbacks) -> list[Table]:
    """Return each kind with count, share and limit, and the replies of each model in a role."""
    kinds = Table(
        "Fallbacks: asked again, repaired, or replaced",
        ("what", "count", "of", "share", "limit"),
        [_kind(fallback) for fallback in fallbacks.shares],
    )
    replies = Table(
        "Replies that need a form",
        ("role", "model", "calls", "second asks", "usable", "repaired", "unusable"),
        [_replies(counted) for counted in fallbacks.replies],
    )
    return [kinds, replies] if fallbacks.replies else [kinds]


def _kind(fallback: Fallback) -> list[str]:
    share, limit = fallback.share, fallback.limit
    shown = f"null ({share.reason})" if share.value is None else f"{share.value:.1%}"
    return [
        fallback.name,
        str(fallback.count),
        str(share.n),
        shown,
        "none" if limit is None else f"{limit:.1%}",
    ]


def _replies(counted: Replies) -> list[str]:
    states = ", ".join(f"{count} {state}" for state, count in counted.unusable.items())
    counts = (counted.calls, counted.second_asks, counted.usable, counted.repaired)
    return [counted.role, counted.model, *map(str, counts), states or "0"]
