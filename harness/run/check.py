"""Ask every endpoint of a study one small question before anything is paid for in earnest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import httpx

from harness.asking.models import ChatModel
from harness.asking.replies import Score, read_reply
from harness.asking.sources import FAILED, open_source
from harness.asking.wire import Answer
from harness.errors import HarnessError
from harness.run.wiring import endpoint, endpoints, keys_in_use, source_endpoint
from harness.study import Study
from harness.study_file import ModelEntry, SourceEntry

QUESTION = [{"role": "user", "content": 'Reply with this JSON object and nothing else: {"far": 1}'}]
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
    """Make one minimal call per model and source of the study, with the parameters of its roles.

    Nothing is recorded. A model that is not asked for JSON (it is no judge) may reply in prose.
    """
    keys = keys_in_use(study)
    for name, asked in endpoints(study).items():
        if asked.api_key_env and not keys[name]:
            words = f"the environment variable {asked.api_key_env} is not set"
            yield EndpointState(name, words, False)
        else:
            yield _checked(study, name, asked, keys.get(name))


def _checked(
    study: Study, name: str, asked: ModelEntry | SourceEntry, key: str | None
) -> EndpointState:
    try:
        if isinstance(asked, SourceEntry):
            return _checked_source(study, name, asked, key)
        return _checked_model(study, ChatModel(endpoint(name, asked, key), httpx.HTTPTransport()))
    except HarnessError as error:
        return EndpointState(name, str(error), False)


def _checked_source(study: Study, name: str, asked: SourceEntry, key: str | None) -> EndpointState:
    wanted = study.depthcharge.domains[0]
    source = open_source(source_endpoint(name, asked, key, wanted), httpx.HTTPTransport())
    found = source.look_up("check", wanted, None)
    if found.state == FAILED:
        return EndpointState(source.name, f"gives no usable answer: {found.problem}", False)
    what = f"a passage: {found.passage.title!r}" if found.passage else "nothing"
    return EndpointState(source.name, f"answers; has {what} about {wanted!r}", True)


def _checked_model(study: Study, model: ChatModel) -> EndpointState:
    name, plan = model.endpoint.name, study.file.plan
    judges = name in plan.replying_in_json
    schema = SCHEMA if judges else None
    answer = model.ask("check", QUESTION, params=plan.params_of(name), schema=schema)
    if answer.state == "rejected":
        return EndpointState(name, f"the parameters are not accepted: {answer.problem}", False)
    return EndpointState(name, _words(model, answer, judges), True)


def _words(model: ChatModel, answer: Answer, judges: bool) -> str:
    asked = model.endpoint.model
    served = answer.served or "unnamed"
    other = "" if served == asked else f" (asked for {asked})"
    state = read_reply(answer.text, answer.finish_reason, {"far": Score()}).state
    able = f", JSON {state}" if judges else ""
    return f"answers; serves {served}{other}; parameters accepted{able}"
