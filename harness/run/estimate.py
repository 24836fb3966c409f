"""What a recording will ask and about what it will cost, before a call is made.

Every cell is held with stand-ins that answer as long as their token limits allow and find every
fact, so that the lengths are those of the real prompts; a token is taken for four characters.
Second tries are not foreseen, and a drill goes to its greatest depth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from harness.asking.inquiry import Window
from harness.asking.limits import CHARACTERS_A_TOKEN
from harness.asking.sources import FOUND, LookUp
from harness.asking.usage import spending
from harness.asking.wire import Answer, Message
from harness.results import Materials, Passage, Spending
from harness.run.protocols import StudyProtocol, Surroundings, protocol_of
from harness.study import Study

UNLIMITED = 400
YEAR, NAME = "1900", "Nemo Fulano"  # that an imagined passage has, so that a gap can be left
LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


class Estimate(NamedTuple):
    """What a recording will ask at most: models with tokens and cost, sources with look-ups."""

    spending: Spending
    look_ups: Mapping[str, int]


def estimate(study: Study, materials: Materials) -> Estimate:
    """Estimate all of a study's cells, recorded or not."""
    protocol = protocol_of(study)
    sources = {name: _EveryFact(name) for name in study.file.sources}
    models = {name: _StandIn(model.params, protocol) for name, model in study.file.models.items()}
    around = Surroundings(models, sources)
    cells = [protocol.cell(study, cell, materials, around).run() for cell in study.cells()]
    look_ups = {name: source.look_ups for name, source in sources.items()}
    return Estimate(spending(cells, materials.prices), look_ups)


def token_limit(params: Mapping[str, Any]) -> int | None:
    """Give the most tokens that a reply may have by these parameters; None where nothing says."""
    limits = [params[name] for name in LIMITS if isinstance(params.get(name), int)]
    return max(limits) if limits else None


def tokens_in(messages: Sequence[Message]) -> int:
    """Give about how many tokens a prompt has."""
    characters = sum(len(message["content"]) for message in messages)
    return math.ceil(characters / CHARACTERS_A_TOKEN)


class _StandIn:
    """A model that says nothing at the greatest length."""

    def __init__(self, params: Mapping[str, Any], protocol: StudyProtocol) -> None:
        self._params, self._protocol = params, protocol

    def ask(
        self,
        call: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002  # `call` says it
    ) -> Answer:
        """Give a reply that the protocol can use, and the tokens of its longest."""
        limit = token_limit({**(params or {}), **self._params}) or UNLIMITED
        text = self._protocol.imagined(call, messages, limit)
        return Answer(text, "ok", "stop", "", (tokens_in(messages), limit))


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
