"""Rules of comparison: given when recording, kept in the cassette, and never more in replay."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer
from recording.sessions import recorded

from harness.errors import DamagedFile, Miss, UsageError
from harness.recording.finish import finish
from harness.recording.transport import RecordingTransport

IGNORE = ["/metadata/run_id", "/parts/*/id", "?trace", "pyd_ai_<uuid>"]
HOSTS = {"127.0.0.1:*": "model.test"}


def number(received: Received) -> Answer:
    """Answer with the number of the request."""
    return json_answer({"number": received.number})


def body(prompt: str = "one") -> dict[str, Any]:
    """Return a request with ids that are never the same."""
    return {
        "prompt": prompt,
        "metadata": {"run_id": uuid.uuid4().hex, "user": "a"},
        "parts": [{"id": uuid.uuid4().hex, "text": "x"}],
        "call": f"pyd_ai_{uuid.uuid4().hex}",
        "number": 1.10,
    }


def ask(path: Path, mode: Any, url: str, *prompts: str, **rules: Any) -> list[int]:
    """Ask with new ids each time."""
    transport = RecordingTransport(path, mode=mode, **rules)
    with httpx.Client(transport=transport, trust_env=False) as live:
        return [
            live.post(f"{url}/a?trace={uuid.uuid4().hex}&b=1", json=body(prompt)).json()["number"]
            for prompt in prompts
        ]


def test_ignored_ids_and_hosts_replay(tmp_path: Path) -> None:
    """Random ids in body, query and values, and another port, replay, with the rules or without."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        rules = {"ignore": IGNORE, "map": HOSTS}
        assert ask(path, "once", server.url, "one", "two", "one", **rules) == [0, 1, 2]
    for rules in ({}, {"ignore": IGNORE, "map": HOSTS}):
        again = ask(path, "none", "http://127.0.0.1:1", "two", "one", "one", **rules)
        assert again == [1, 0, 2]
    assert b'"rules": {"ignore":' in path.read_bytes().partition(b"\n")[0]
    assert "run_id" in str(recorded(path)[0].request.body)


def test_what_is_not_ignored_counts(tmp_path: Path) -> None:
    """Another prompt, another host and another unlisted field are still misses."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, "once", server.url, "one", ignore=IGNORE)
        with pytest.raises(Miss):
            ask(path, "none", server.url, "two")
        with pytest.raises(Miss):
            ask(path, "none", "http://127.0.0.1:1", "one")


def test_a_replay_takes_no_more(tmp_path: Path) -> None:
    """Rules that the cassette does not have are refused, in replay and when it is gone on with."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, "once", server.url, "one")
        for mode in ("none", "new_episodes"):
            with pytest.raises(UsageError, match="other rules of comparison"):
                ask(path, mode, server.url, "one", ignore=IGNORE)


def test_rules_survive_a_crash(tmp_path: Path) -> None:
    """The journal has them too: what is finished from it replays."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        transport = RecordingTransport(path, mode="once", ignore=IGNORE)
        live = httpx.Client(transport=transport, trust_env=False)
        live.post(f"{server.url}/a?b=1", json=body())
        transport.recorder.release()  # as the end of the process would
        assert finish(path) == 1
        assert ask(path, "none", server.url, "one") == [0]


@pytest.mark.parametrize("rule", ["run_id", "", "<hex><hex><hex><hex>"])
def test_what_is_no_rule(tmp_path: Path, rule: str) -> None:
    """A rule of no known form is refused by name before anything is recorded."""
    with pytest.raises(UsageError, match="is no rule"):
        RecordingTransport(tmp_path / "c.json", mode="once", ignore=[rule])


def test_damaged_rules(tmp_path: Path) -> None:
    """A first line whose rules are malformed is damage."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, "once", server.url, "one", ignore=IGNORE)
    data = path.read_bytes()
    for old, new in ((b"?trace", b"trace"), (b'"ignore"', b'"other"')):
        path.write_bytes(data.replace(old, new, 1))
        with pytest.raises(DamagedFile, match="rules"):
            recorded(path)
