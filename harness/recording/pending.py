"""A request on its way: what comes back is cleaned of keys and kept."""

from __future__ import annotations

import base64
import time
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio

from harness.recording.exchange import PlainRequest, Reply, fate_of, sent_bytes
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

NO_ANSWER = Reply(ERROR_STATUS, "recorded error", "HTTP/1.1", [], b"", [])


class Pending:
    """A request on its way, with its place in the cassette already taken.

    earlier: the errors that it met in earlier sittings, in their words.
    """

    def __init__(
        self,
        recorder: Recorder,
        request: PlainRequest,
        stored: RecordedRequest,
        label: str,
        occurrence: int,
    ) -> None:
        self.earlier = recorder.failures(request.call)
        self.keys = recorder.keys
        self._recorder, self._request, self._stored = recorder, request, stored
        self._label, self._occurrence = label, occurrence
        self._began = time.monotonic()

    def clean_head(self, head: Reply) -> Reply:
        """Return the head of an answer as the caller is to see it."""
        return self._cleaned(head)

    def finish(self, reply: Reply) -> Reply:
        """Keep what came back, wait for the disk, and return it as the caller is to see it.

        Keys are taken out of it.
        """
        shown = self._cleaned(reply)
        ticket = self._submit(shown, reply)
        if ticket is not None:
            self._recorder.wait(ticket)
        return shown

    async def finish_async(self, reply: Reply) -> Reply:
        """Do the same without holding up the event loop."""
        shown = self._cleaned(reply)
        ticket = self._submit(shown, reply)
        if ticket is None:
            return shown
        try:
            await self._recorder.wait_async(ticket)
        except anyio.get_cancelled_exc_class():
            self.cancel(reply)  # the caller has not seen its end
            raise
        return shown

    def cancel(self, reply: Reply = NO_ANSWER) -> None:
        """Keep that the program cancelled the call, with what it had seen of the answer."""
        if reply.status != ERROR_STATUS and reply.chunks is None:
            reply = reply._replace(chunks=[len(reply.body)] if reply.body else [])
        shown = self._cleaned(reply._replace(cancelled=True, partial=False))
        self._recorder.submit(self._interaction(shown), self._label)
        self._recorder.write_soon()

    def leave(self, reply: Reply) -> None:
        """Keep a stream that the client left; nobody waits for the disk."""
        if self._submit(self._cleaned(reply), reply) is not None:
            self._recorder.write_soon()

    def give_up(self) -> None:
        """Leave the place in the cassette to the next request: this one got no answer."""
        self._recorder.give_back(self._label, self._occurrence)

    def failed(self, failure: Failure, attempts: list[Attempt]) -> Reply:
        """Return the reply that stands for an error that came instead of an answer."""
        return NO_ANSWER._replace(attempts=attempts, error=failure)

    def _submit(self, shown: Reply, reply: Reply) -> Future[None] | None:
        fate = fate_of(self._request, reply)
        if fate == "answer":
            return self._recorder.submit(self._interaction(shown), self._label)
        self.give_up()
        return self._recorder.note_failure(self._interaction(shown)) if fate == "failure" else None

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
        request = self._request
        headers = [(name, clean_header(name, value)) for name, value in reply.headers]
        grouped = header_map(headers)
        flat = [(name, value) for name, values in grouped.items() for value in values]
        binary = self._stored.body is None
        return Interaction(
            self._stored,
            RecordedResponse(
                Status(reply.status, reply.reason),
                grouped,
                stored_body(reply.body),
                call=request.call,
                occurrence=self._occurrence,
                endpoint=request.endpoint,
                attempts=reply.attempts,
                http_version=reply.http_version,
                header_list=None if flat == headers else headers,
                chunks=reply.chunks,
                error=reply.error,
                partial=reply.partial,
                cancelled=reply.cancelled,
                redacted=reply.redacted,
                request_base64=base64.b64encode(sent_bytes(request)).decode() if binary else None,
                recorded_at=_now(),
                elapsed=round(time.monotonic() - self._began, 3),
            ),
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
