"""Put the gold set before a study's judges now, or replay how they took it."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx

from harness.asking.rate_limits import Limits, LimitTransport
from harness.asking.retry import RetryTransport
from harness.protocols.registry import protocol_of
from harness.recording import guard
from harness.results import GoldKey, JuryCheck
from harness.run.exam import checked, gold_set, jury_check, with_gold
from harness.run.replay import sound_replays
from harness.run.threads import at_once
from harness.run.wiring import (
    endpoints,
    foreseen,
    frozen,
    keys_in_use,
    require_keys,
    surroundings,
)
from harness.study.entries import ModelEntry, SourceEntry
from harness.study.folder import Study


def recorded_check(study: Study) -> JuryCheck | None:
    """Return what a study's recording shows of its jury; None where nothing is recorded yet.

    Raises CheckFailed where a recorded cell does not replay.
    """
    finished = [cell for cell in study.cells() if study.cassette(cell).exists()]
    if not finished:
        return None
    with guard.closed():
        return jury_check(study, frozen(study).materials, sound_replays(study, finished))


def has_recorded_exam(study: Study) -> bool:
    """Tell whether the gold set is part of the study's recording, and recorded."""
    return bool(study.file.jury_check) and study.cassette(GoldKey()).exists()


def live_check(
    study: Study, gold_file: Path | None = None, concepts: tuple[str, ...] = ()
) -> JuryCheck:
    """Ask every judge of a study the gold set now, through the study's own prompts.

    gold_file: a gold set in the place of the study's own or the package's. Nothing is recorded.
    Raises UsageError where a key or a text is missing, Incomplete where an endpoint is down.
    """
    keys = keys_in_use(study)
    require_keys(study, keys)
    gold_path = study.folder / study.file.gold_file if study.file.gold_file else None
    gold = gold_set(gold_file or gold_path, concepts)
    materials = with_gold(study, foreseen(study), gold)
    transports = {name: _way_out(study, entry) for name, entry in endpoints(study).items()}
    try:
        at_same_time = at_once(study.file.record.workers, threading.Event())
        around = surroundings(study, GoldKey(), transports, keys, each=at_same_time)
        taken = protocol_of(study).exam(study, materials, around).run()
    finally:
        for transport in transports.values():
            transport.close()
    return checked(study, materials, taken)


def _way_out(study: Study, entry: ModelEntry | SourceEntry) -> httpx.BaseTransport:
    stop = threading.Event()
    limits = Limits(entry.concurrency, entry.requests_per_minute, None)
    wire = LimitTransport(httpx.HTTPTransport(), limits, stop)
    return RetryTransport(wire, stop, tries=study.file.record.tries)
