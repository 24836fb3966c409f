"""Ask every endpoint of a study one small question before anything is paid for in earnest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import httpx

from harness.asking.models.chat_model import ChatModel
from harness.asking.models.model import Answer
from harness.asking.replies.one_word import Choice, ask_word
from harness.asking.replies.parser import ScoreField, read_reply
from harness.asking.sources.fact_source import FAILED, open_source
from harness.errors import HarnessError
from harness.protocols.registry import protocol_of
from harness.results.answers import CUT_OFF_THINKING, REJECTED, words_of
from harness.run.preflight import read_all
from harness.run.served import advice, others_served
from harness.run.wiring import endpoints, keys_in_use, way_out
from harness.study.entries import SourceEntry
from harness.study.folder import Study

QUESTION = [{"role": "user", "content": 'Reply with this JSON object and nothing else: {"far": 1}'}]
WORD = [{"role": "user", "content": "Is water wet? Answer with one word, Yes or No."}]
SCHEMA = {
    "type": "object",
    "properties": {"far": {"type": "number"}},
    "required": ["far"],
    "additionalProperties": False,
}


class EndpointState(NamedTuple):
    """What one endpoint said, in words, and whether a recording can use it."""

    name: str
    words: str
    ok: bool


def check_endpoints(study: Study) -> Iterator[EndpointState]:
    """Make a minimal call for each role of each model, with its parameters, and to each source.

    Nothing is recorded. What a recording reads is read first, and raises UsageError as there. Who
    is asked for JSON in the study must give it here, too.
    """
    read_all(study)
    keys = keys_in_use(study)
    for name, entry in endpoints(study).items():
        if entry.api_key_env and not keys[name]:
            words = f"the environment variable {entry.api_key_env} is not set"
            yield EndpointState(name, words, False)
        elif isinstance(entry, SourceEntry):
            yield _told(name, partial(_checked_source, study, name, entry, keys.get(name)))
        else:
            model = ChatModel(entry.endpoint(name, keys.get(name)), httpx.HTTPTransport())
            for role in (role for role, names in study.file.plan.roles.items() if name in names):
                yield _told(f"{name} ({role})", partial(_checked_model, study, model, role))


def _told(name: str, check: Callable[[], EndpointState]) -> EndpointState:
    try:
        return check()
    except HarnessError as error:
        return EndpointState(name, str(error), False)


def _checked_source(study: Study, name: str, entry: SourceEntry, key: str | None) -> EndpointState:
    domain = study.file.plan.domain_of(study.cells()[0])
    source = open_source(entry.endpoint(name, key, domain), way_out(entry, httpx.HTTPTransport()))
    look_up = source.look_up("check", domain, None)
    passage = next(iter(look_up), None)
    if look_up.state == FAILED:
        return EndpointState(source.name, f"gives no usable answer: {look_up.problem}", False)
    what = f"a passage: {passage.title!r}" if passage else "nothing"
    return EndpointState(source.name, f"answers; has {what} about {domain!r}", True)


def _checked_model(study: Study, model: ChatModel, role: str) -> EndpointState:
    name, params = f"{model.endpoint.name} ({role})", study.file.params_of_role.get(role, {})
    form = study.file.plan.reply_form(model.endpoint.name, role)
    in_json = form == "json"
    if form == "word":
        return _checked_word(study, name, model, params)
    answer = model.ask("check", QUESTION, params=params, schema=SCHEMA if in_json else None)
    if answer.state == REJECTED:
        return EndpointState(name, f"the parameters are not accepted: {answer.problem}", False)
    newest = protocol_of(study).VERSIONS[-1]
    if answer.lost:
        words = f"gives no answer ({words_of(answer.state)}){_cause(answer)}"
        return EndpointState(name, words, False)
    state = read_reply(answer.text, answer.finish_reason, {"far": ScoreField()}, newest).state
    able = f", JSON {state}" if in_json else ""
    warning = _served_warning(study, model, answer)
    ok = not warning and (not in_json or state == "ok")
    return EndpointState(name, f"{_served(model, answer)}{able}{warning}", ok)


def _cause(answer: Answer) -> str:
    if answer.state == CUT_OFF_THINKING:
        return ": its token limit ends before its thinking does; raise it"
    return f": {answer.problem}" if answer.problem else ""


def _checked_word(
    study: Study, name: str, model: ChatModel, params: Mapping[str, object]
) -> EndpointState:
    choice = Choice("Yes", "No", "Answer with one word alone: Yes or No.", params)
    word = ask_word(model, "check", WORD, choice)
    if word.share is None:
        return EndpointState(name, f"gives no verdict in one word: {word.state}", False)
    kind = "the word alone, no probabilities" if word.by_word else "its probabilities too"
    answer = word.answers[-1]
    warning = _served_warning(study, model, answer)
    words = f"{_served(model, answer)}, one word: {kind}{warning}"
    return EndpointState(name, words, not warning)


def _served_warning(study: Study, model: ChatModel, answer: Answer) -> str:
    """Return a warning where another model served than was asked for; else ""."""
    name = model.endpoint.name
    others = others_served(study.file.models[name], [answer.served])
    return f"; {advice(name, answer.served)}" if others else ""


def _served(model: ChatModel, answer: Answer) -> str:
    requested, served = model.endpoint.model, answer.served or "unnamed"
    note = "" if served == requested else f" (asked for {requested})"
    return f"answers; serves {served}{note}; parameters accepted"
