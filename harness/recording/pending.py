"""A request on its way: what comes back is cleaned of keys and kept."""

from __future__ import annotations

import base64
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from harness.recording.exchange import Exchange, Reply, fate_of, sent_bytes
from harness.recording.interaction import (
    ERROR_STATUS,
    Attempt,
    Failure,
    Interaction,
    RecordedRequest,
    RecordedResponse,
    Status,
    header_map,
    stored_body,
)
from harness.recording.redaction import clean_header

if TYPE_CHECKING:
    from harness.recording.recorder import Recorder


class Pending:
    """A request on its way, with its place in the cassette already taken.

    earlier: the errors that it met in earlier sittings, in their words.
    """

    def __init__(
        self, recorder: Recorder, exchange: Exchange, request: RecordedRequest, occurrence: int
    ) -> None:
        self.earlier = recorder.failures(exchange.call)
        self._recorder, self._exchange = recorder, exchange
        self._request, self._occurrence = request, occurrence
        self._began = time.monotonic()
        self.keys = recorder.keys

    def finish(self, reply: Reply) -> Reply:
        """Keep what came back, and give it as the caller is to see it (keys taken out)."""
        shown = self._cleaned(reply)
        fate = fate_of(self._exchange, reply)
        if fate == "answer":
            self._recorder.keep(self._interaction(shown))
            return shown
        if fate == "failure":
            self._recorder.note_failure(self._interaction(shown))
        self.give_up()
        return shown

    def give_up(self) -> None:
        """Leave the place in the cassette to the next request: this one got no answer."""
        self._recorder.give_back(self._exchange, self._occurrence)

    def fail(self, failure: Failure, attempts: list[Attempt]) -> None:
        """Keep an error that came instead of an answer."""
        reason = "recorded error"
        self.finish(Reply(ERROR_STATUS, reason, "HTTP/1.1", [], b"", attempts, error=failure))

    def _cleaned(self, reply: Reply) -> Reply:
        clean = self.keys.clean_text
        headers = [(name, clean(value)) for name, value in reply.headers]
        body = self.keys.clean(reply.body)
        if len(body) != len(reply.body):
            headers = [pair for pair in headers if pair[0].lower() != "content-length"]
            reply = reply._replace(chunks=reply.chunks and [len(body)], redacted=True)
        error = reply.error and Failure(reply.error.type, clean(reply.error.message))
        cleaned = reply._replace(
            reason=clean(reply.reason), headers=headers, body=body, error=error
        )
        return cleaned._replace(redacted=reply.redacted or cleaned != reply)

    def _interaction(self, reply: Reply) -> Interaction:
        exchange = self._exchange
        headers = [(name, clean_header(name, value)) for name, value in reply.headers]
        grouped = header_map(headers)
        flat = [(name, value) for name, values in grouped.items() for value in values]
        binary = self._request.body is None
        return Interaction(
            self._request,
            RecordedResponse(
                Status(reply.status, reply.reason),
                grouped,
                stored_body(reply.body),
                call=exchange.call,
                occurrence=self._occurrence,
                endpoint=exchange.endpoint,
                attempts=reply.attempts,
                http_version=reply.http_version,
                header_list=None if flat == headers else headers,
                chunks=reply.chunks,
                error=reply.error,
                partial=reply.partial,
                redacted=reply.redacted,
                request_base64=base64.b64encode(sent_bytes(exchange)).decode() if binary else None,
                recorded_at=_now(),
                elapsed=round(time.monotonic() - self._began, 3),
            ),
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
