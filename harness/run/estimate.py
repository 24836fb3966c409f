"""What a recording will ask and about what it will cost, before a call is made.

Every cell is held with stand-ins that answer as long as their token limits allow and find every
fact, so that the lengths are those of the real prompts; a token is taken for four characters. A
second ask is foreseen wherever the protocol makes one, and counted apart. Of a dialogue this is the
most there can be, if every model has a token limit; a drill goes to its greatest depth, and asks
more where facts are missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.asking.models.model import Answer, Message
from harness.asking.models.provider import Endpoint, provider_of, request_body
from harness.asking.models.usage import spending
from harness.asking.rate_limits import CHARACTERS_A_TOKEN
from harness.asking.sources.fact_source import FOUND, LookUp
from harness.asking.sources.inquiry import Window
from harness.protocols.registry import held_cell, protocol_of
from harness.protocols.seam import NAME, YEAR, StudyProtocol, Surroundings
from harness.results import Materials, Passage, Spending, Usage
from harness.study.folder import Study

UNLIMITED = 400
ASK_AGAIN = 60  # tokens of the words with which a second ask says what was wrong


class RecordingEstimate(NamedTuple):
    """What a recording will ask: models with tokens and cost, sources with look-ups.

    usual: without any second ask; most: with every one. unlimited: models that are sent no token
    limit, for whose replies UNLIMITED tokens are taken. bounded: whether `most` is the most there
    can be of calls, and of tokens out where no model is unlimited.
    """

    usual: Spending
    most: Spending
    look_ups: Mapping[str, int]
    unlimited: list[str]
    bounded: bool


class _SecondAsks(NamedTuple):
    """The usage of all second asks, by model."""

    usage: Mapping[str, Usage]


def estimate(study: Study, materials: Materials) -> RecordingEstimate:
    """Return an estimate of all of a study's cells, recorded or not."""
    protocol = protocol_of(study)
    sources = {name: _EveryFact(name) for name in study.file.sources}
    models = {
        name: _StandIn(model.endpoint(name, None), protocol)
        for name, model in study.file.models.items()
    }
    around = Surroundings(models, sources)
    cells = [held_cell(study, cell, materials, around).run() for cell in study.cells()]
    again = _SecondAsks({name: model.again for name, model in models.items() if model.again.calls})
    return RecordingEstimate(
        usual=spending(cells, materials.prices),
        most=spending([*cells, again], materials.prices),
        look_ups={name: source.look_ups for name, source in sources.items()},
        unlimited=[name for name, model in models.items() if model.is_unlimited],
        bounded=protocol.is_bounded(study),
    )


def limit_sent(endpoint: Endpoint, params: Mapping[str, object]) -> int | None:
    """Return the token limit of a model in a role, as its requests carry it."""
    return provider_of(endpoint.provider).token_limit(request_body(endpoint, [], params))


def tokens_in(messages: Sequence[Message]) -> int:
    """Return about how many tokens a prompt has."""
    characters = sum(len(message["content"]) for message in messages)
    return math.ceil(characters / CHARACTERS_A_TOKEN)


class _StandIn:
    """A model that says nothing at the greatest length."""

    def __init__(self, endpoint: Endpoint, protocol: StudyProtocol) -> None:
        self._endpoint, self._protocol = endpoint, protocol
        self.again, self.is_unlimited = Usage(), False

    def ask(
        self,
        call: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, object] | None = None,
        schema: Mapping[str, object] | None = None,  # noqa: ARG002  # `call` says it
    ) -> Answer:
        """Return a reply that the protocol can use, and the tokens of its longest."""
        limit = limit_sent(self._endpoint, params or {})
        self.is_unlimited |= limit is None
        limit = UNLIMITED if limit is None else limit
        prompt = tokens_in(messages)
        if self._protocol.may_ask_again(call):
            self.again.calls += 1
            self.again.prompt_tokens += prompt + limit + ASK_AGAIN
            self.again.completion_tokens += limit
        text = self._protocol.imagined(call, messages, limit)
        return Answer(text, "ok", "stop", "", (prompt, limit))


class _EveryFact:
    """A source that has a passage of a usual length about everything."""

    def __init__(self, name: str) -> None:
        self.name, self.look_ups = name, 0

    def look_up(
        self,
        call: str,
        direction: str,
        window: Window | None,  # noqa: ARG002
        *,
        optional: bool = False,  # noqa: ARG002
    ) -> LookUp:
        """Return a look-up with one passage, which names what is looked for."""
        self.look_ups += 1
        named = f"It was in {YEAR} that Professor {NAME} wrote down this fact of them all."
        return _Imagined(Passage(direction, f"{direction}: {'fact ' * 80}. {named}", call))


class _Imagined:
    """A look-up that has a passage."""

    state, problem = FOUND, ""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage

    def __iter__(self) -> Iterator[Passage]:
        yield self._passage
