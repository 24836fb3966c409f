"""A model as those who ask it see it: messages go in, an answer comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

Message = dict[str, str]
NO_TEXT = "(empty)"  # stands for an answer without a text
# Finish reasons, as endpoints write them; capitals do not count but in protocol version 1.
CUT_OFF = ("length", "max_tokens", "model_context_window_exceeded")
FILTERED = ("content_filter", "refusal")  # the only ones in protocol version 1
# A gateway may pass on the word of the model behind it, so every endpoint may say any of these.
FILTERING = (
    *FILTERED, "content_filtered", "guardrail_intervened", "safety", "prohibited_content",
    "blocklist", "spii", "recitation",
)  # fmt: skip


class Answer(NamedTuple):
    """A model's answer without its thinking.

    state: a kind of results.answers.KINDS (in a study of protocol version 1: "ok", "empty",
    "truncated", "filtered" or "rejected"). finish_reason: the endpoint's, "refusal" for what was
    declined in a field of its own. tokens: prompt and completion, None where the endpoint does not
    say. problem: what came instead of a reply. thought: whether thinking was taken out. lost:
    whether the answer is missing, so that there is nothing to judge and `text` is "". first: the
    likeliest first tokens with their log probabilities, where they were asked for and given, and
    where the likeliest begins `text`; () of an answer that is missing or had thinking.
    """

    text: str
    state: str
    finish_reason: str | None
    served: str
    tokens: tuple[int, int] | None
    problem: str = ""
    thought: bool = False
    lost: bool = False
    first: tuple[tuple[str, float], ...] = ()


class Model(Protocol):
    """Whatever can be asked."""

    def ask(
        self,
        call: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, object] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> Answer:
        """Ask once, under the name `call`."""


def ends_in(finish: object, reasons: Sequence[str]) -> bool:
    """Tell whether a finish reason is one of `reasons`, without regard to case."""
    return isinstance(finish, str) and finish.lower() in reasons


def with_text(message: Message) -> Message:
    """Return a message as it is, or with NO_TEXT for its text: some APIs refuse an empty one."""
    return message if message["content"].strip() else {**message, "content": NO_TEXT}
