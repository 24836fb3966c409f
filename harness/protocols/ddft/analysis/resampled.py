"""Intervals of a bootstrap as cells of a table."""

from __future__ import annotations

from harness.results import Interval
from harness.results.table import Noted, interval_note
from harness.stats.resampling import Bootstrap


def resampled(bootstrap: Bootstrap) -> Interval | Noted:
    """Return a bootstrap's interval, with a note where some resamples gave no number."""
    if not bootstrap.dropped:
        return bootstrap.interval
    defined = bootstrap.resamples - bootstrap.dropped
    note = f"over the {defined:,} of {bootstrap.resamples:,} resamples that give a number"
    return interval_note(bootstrap.interval, note)
