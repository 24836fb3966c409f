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
    not, nor does the address, which every replay compares. It is the SHA-256 of the JSON arrays of
    these, one after the other.
    """
    total = hashlib.sha256()
    for interaction in interactions:
        request, response = interaction.request, interaction.response
        exchange = (
            response.call,
            response.occurrence,
            request.body,
            response.request_base64,
            response.status.code,
            response.error,
            response.partial,
            response.body,
        )
        total.update(msgspec.json.encode(exchange))
    return total.hexdigest()
