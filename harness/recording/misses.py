"""The words of a miss: which call, what differs, and what to do."""

from __future__ import annotations

from harness.recording.cassette import Cassette
from harness.recording.difference import difference, shown
from harness.recording.exchange import PlainRequest
from harness.recording.interaction import Interaction

UNNAMED_ADVICE = (
    'If the change is meant, record it: mode "new_episodes" adds what is new, "all" '
    "records everything anew."
)
NAMED_ADVICE = (
    "Replay with the study's own materials and harness version, or record the cell anew "
    "(`harness record --restart CELL`)."
)


def exhausted(place: str, occurrence: int) -> str:
    """Return the words for a request that comes once more than it was recorded."""
    return (
        f"{place}: exhausted, {occurrence} of {occurrence} recorded answers were given and one "
        "more was asked for. Nothing was sent. (Open transports on one file share its answers; "
        "close one before you start again with another.)"
    )


def not_recorded(place: str, request: PlainRequest, cassette: Cassette) -> str:
    """Return the words for a request that is not in a cassette, with the nearest that is."""
    near = cassette.nearest(request.call or request.url, shown(request.body))
    if near is None:
        return f"{place}: not recorded, the cassette is empty. Nothing was sent."
    return (
        f"{place}: not recorded. Nothing was sent.\n"
        f"nearest recording: {near.response.call or near.request.uri}\n"
        f"{difference(near, request)}\n{_advice(request)}"
    )


def elsewhere(place: str, request: PlainRequest, endpoint: str) -> str:
    """Return the words for a request to another endpoint than the recorded one."""
    return (
        f"{place}: goes to {request.endpoint or 'no endpoint'!r}, but was "
        f"recorded of {endpoint or 'no endpoint'!r}. Nothing was sent.\n{_advice(request)}"
    )


def changed(place: str, request: PlainRequest, recorded: Interaction, *, replays: bool) -> str:
    """Return the words for a request whose name is recorded with other content."""
    verb = (
        "changed since it was recorded"
        if replays
        else "differs from what was recorded before the interruption (drift)"
    )
    return (
        f"{place}: {verb}. Nothing was sent.\n{difference(recorded, request)}\n{_advice(request)}"
    )


def unused(path: object, names: list[str], total: int) -> str:
    """Return the words for what is recorded and nobody asked for."""
    return (
        f"{path}: {len(names)} of {total} recorded calls were not asked for, the first is "
        f"{names[0]}. The program does less than when it was recorded: replay it with the version "
        "that recorded it, or record anew."
    )


def key_in_request(place: str) -> str:
    """Return the words for a request that carries a key where it would be stored."""
    return (
        f"{place}: the request carries a key outside the headers made for keys, so it would be "
        "stored. It was not sent. Take the key out of the prompt, the URL or the study file."
    )


def nothing_recorded(path: object, journal: str) -> str:
    """Return the words for a cassette that is not there; journal: the one that was begun, or ""."""
    if journal:
        return (
            f"{path}: the recording was not finished ({journal} holds what came so far). Make a "
            f"cassette of that with `harness finish {path}`, or go on recording: `harness record` "
            'in a study, else mode "new_episodes".'
        )
    return (
        f"{path}: nothing is recorded here. Check the path, or record it first "
        '(mode "once", or `harness record`).'
    )


def _advice(request: PlainRequest) -> str:
    return UNNAMED_ADVICE if request.call is None else NAMED_ADVICE
