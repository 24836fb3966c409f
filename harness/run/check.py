"""Ask every endpoint of a study one small question before anything is paid for in earnest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import httpx

from harness.asking.models import ChatModel
from harness.asking.replies import Score, read_reply
from harness.asking.wire import Answer
from harness.errors import HarnessError
from harness.run.wiring import endpoint, keys_in_use
from harness.study import Study

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
    """Make one minimal call per model of the study, with the parameters of its roles.

    Nothing is recorded. A model that is not asked for JSON (it is no judge) may reply in prose.
    """
    keys = keys_in_use(study)
    for name, model in study.file.models.items():
        if model.api_key_env and not keys[name]:
            words = f"the environment variable {model.api_key_env} is not set"
            yield EndpointState(name, words, False)
            continue
        yield _checked(
            study, name, ChatModel(endpoint(name, model, keys.get(name)), httpx.HTTPTransport())
        )


def _checked(study: Study, name: str, model: ChatModel) -> EndpointState:
    judges = name in study.file.ddft.jury
    params = study.file.ddft.params.get("judge" if judges else "subject", {})
    try:
        answer = model.ask("check", QUESTION, params=params, schema=SCHEMA if judges else None)
    except HarnessError as error:
        return EndpointState(name, str(error), False)
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
