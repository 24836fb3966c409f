"""Take out of a recording what may not be handed on, and keep account of it.

Of a passage without an open licence goes the source's answer, and the requests that quote it to a
model. Of a model whose answers may not be handed on go its answers, and in the cells it spoke in
every request, since a dialogue repeats what was said. Names, addresses, times, sizes and checksums
stay. A cell that lacks a body no longer replays.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from harness import results as results_file
from harness.errors import DamagedFile, UsageError
from harness.files import write_atomic
from harness.recording import cassette as cassettes
from harness.recording.cassette import Cassette
from harness.recording.interaction import Interaction, RecordedResponse
from harness.run.addressed import asked
from harness.run.licences import pages
from harness.study import Study

LEFT_OUT = "LEFT-OUT.json"
ANSWER, REQUEST = "answer", "request"


class Body(msgspec.Struct):
    """A body that is left out: of the answer to a call or of its request, and why."""

    cell: str
    call: str
    part: str
    url: str
    bytes: int
    sha256: str
    why: str


class LeftOut(msgspec.Struct):
    """LEFT-OUT.json: the whole study's fingerprint, and every body that is left out."""

    study: str
    fingerprint: str
    bodies: list[Body]

    @property
    def cells(self) -> Counter[str]:
        """Give the cells that lack something, and how many bodies."""
        return Counter(body.cell for body in self.bodies)


def read_left_out(root: Path) -> LeftOut | None:
    """Read what is left out of a bundle; None where everything is there."""
    path = root / LEFT_OUT
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=LeftOut)
    except msgspec.DecodeError as error:
        raise DamagedFile(f"{path}: is damaged ({error}). Get the bundle again.") from error


def leave_out(
    study: Study, fingerprint: str, *, closed_passages: bool, models: Collection[str] = ()
) -> LeftOut:
    """Rewrite a study's cassettes without what may not be handed on, and write LEFT-OUT.json.

    closed_passages: leave out passages whose licence is not known to be open. models: whose answers
    to leave out. Raises UsageError for a model that the study has not.
    """
    for name in models:
        if name not in study.file.models:
            raise UsageError(
                f"--drop {name}: {study.name} has no such model; it has "
                f"{', '.join(study.file.models)}"
            )
    found = LeftOut(study.name, fingerprint, [])
    for cell in study.cells():
        path = study.cassette(cell)
        kept = list(cassettes.load(path))
        why = _reasons(study, kept, closed_passages, models)
        bodies = [_taken(cell.name, *place, reason) for place, reason in _placed(kept, why)]
        if bodies:
            Cassette(kept).save(path)
            found.bodies += bodies
    if found.bodies:
        write_atomic(study.root / LEFT_OUT, results_file.canonical(found))
    return found


Place = tuple[Interaction, str]
Reasons = dict[tuple[int, str], str]


def _reasons(
    study: Study, kept: Sequence[Interaction], closed_passages: bool, models: Collection[str]
) -> Reasons:
    """Say why which part of which call goes."""
    names = [asked(study, one) for one in kept]
    found: Reasons = {}
    if spoke := sorted({name for one in names for name in one if name in models}):
        for place, one in enumerate(names):
            found[place, REQUEST] = f"may repeat the words of {', '.join(spoke)}"
            if set(one) & set(spoke):
                found[place, ANSWER] = f"the words of {', '.join(sorted(set(one) & set(spoke)))}"
    if closed_passages:
        found |= _closed(study, kept, names)
    return found


def _closed(study: Study, kept: Sequence[Interaction], names: Sequence[Sequence[str]]) -> Reasons:
    """Find passages that are not open; a call under a look-up's own name quotes its passage."""
    found: Reasons = {}
    under: dict[str, str] = {}
    for place, one in enumerate(kept):
        for name in names[place]:
            source = study.file.sources.get(name)
            closed = (
                [page for page in pages(source.kind, one) if not page.is_open] if source else []
            )
            if closed:
                why = f"a passage of {name}, licence {closed[0].licence}"
                found[place, ANSWER] = why
                under[(one.response.call or "").rpartition("/")[0]] = why
    for place, one in enumerate(kept):
        parents = _parents(one.response.call or "")
        for call in under.keys() & parents:
            if not set(names[place]) & study.file.sources.keys():
                found[place, REQUEST] = f"quotes {under[call]}"
    return found


def _parents(call: str) -> set[str]:
    parts = call.split("/")
    return {"/".join(parts[:size]) for size in range(1, len(parts))}


def _placed(kept: Sequence[Interaction], why: Reasons) -> list[tuple[Place, str]]:
    return [((kept[place], part), reason) for (place, part), reason in sorted(why.items())]


def _taken(cell: str, kept: Interaction, part: str, why: str) -> Body:
    """Take one body out of an interaction, and give the account of it."""
    request, response = kept.request, kept.response
    data = kept.body_bytes if part == ANSWER else kept.request_bytes
    if part == ANSWER:
        _empty(response)
    else:
        request.body, response.request_base64 = "", None
    call = response.call or response.digest
    digest = hashlib.sha256(data).hexdigest()
    return Body(cell, call, part, request.uri, len(data), digest, why)


def _empty(response: RecordedResponse) -> None:
    response.body = {"string": ""}
    response.chunks = [] if response.chunks is not None else None
