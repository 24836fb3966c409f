"""The hash of everything that was asked and answered in a cell, as a protocol sees it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from harness.recording.interaction import Interaction


def transcript_sum(interactions: Iterable[Interaction]) -> str:
    """Return the SHA-256, in hex, of a cell's requests and answers, in the order of the file.

    Of each exchange counts: call, occurrence, the request's body, status, error, whether the client
    left early, and the answer's body. What no protocol reads (headers, times, earlier tries) does
    not, nor does the address, which every replay compares. Hashed are, one exchange after the
    other: a JSON array of what is short and of both bodies' sizes in bytes, then the bodies.
    """
    total = hashlib.sha256()
    for interaction in interactions:
        response = interaction.response
        request, answer = interaction.request_bytes, interaction.body_bytes
        short = (
            response.call,
            response.occurrence,
            response.status.code,
            response.error,
            response.partial,
            len(request),
            len(answer),
        )
        total.update(msgspec.json.encode(short))
        total.update(request)
        total.update(answer)
    return total.hexdigest()
