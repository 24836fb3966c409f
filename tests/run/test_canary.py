"""A key in use is nowhere in what a recording leaves behind, and costs no answer."""

import base64
import gzip
import json
import threading
from pathlib import Path
from urllib.parse import quote

import pytest
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_text import study_text

from harness.errors import KeyInRequest, UsageError
from harness.recording import cassette as cassettes
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.study.folder import Study

CANARY = "canary/key+0123456789=="
FORMS = (
    CANARY,
    quote(CANARY, safe=""),
    *(base64.b64encode(b"x" * shift + CANARY.encode()).decode()[4:24] for shift in range(3)),
)


def write(root: Path, url: str, extra: str = "") -> Path:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True)
    text = study_text(url, subjects=("subject-a",), levels="[0.5]", extra=extra)
    text = text.replace('model = "', 'api_key_env = "CANARY_KEY"\nmodel = "')
    (folder / "study.toml").write_text(text)
    return folder


def everything_under(root: Path) -> str:
    """Give every byte that was left, bodies decoded too."""
    texts = [path.read_bytes() for path in root.rglob("*") if path.is_file()]
    for path in root.rglob("*--*.json"):
        texts += [kept.body_bytes + kept.request_bytes for kept in cassettes.load(path)]
    return b"\n".join(texts).decode("utf-8", "replace")


class Echo:
    """A provider that repeats the key: in a first 500, in headers, and in every answer's text."""

    def __init__(self) -> None:
        self.provider = Provider()
        self.failed: set[str] = set()
        self.guard = threading.Lock()

    def __call__(self, received: Received) -> Answer:
        assert received.header("authorization") == f"Bearer {CANARY}"
        body = received.body.decode()
        with self.guard:
            first = body not in self.failed
            self.failed.add(body)
        if first and "subject" in received.json()["model"]:
            return json_answer({"error": f"bad key {CANARY}"}, status=500)
        answer = self.provider(received)
        if "subject" not in received.json()["model"]:
            return answer
        reply = json.loads(answer.body)
        reply["choices"][0]["message"]["content"] += f" Your key is {CANARY}, {FORMS[1]}."
        packed = gzip.compress(json.dumps(reply).encode())
        headers = [("content-type", "application/json"), ("content-encoding", "gzip")]
        return Answer(200, headers=[*headers, ("x-echo", CANARY)], body=packed)


def test_the_key_is_nowhere_and_every_answer_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An echoed key becomes [REDACTED], for the next prompt too, and the study replays."""
    monkeypatch.setenv("CANARY_KEY", CANARY)
    with Loopback(Echo()) as server:
        folder = write(tmp_path, server.url)
        outcome = Recording(Study(folder)).run()
    assert outcome.problems == []
    assert outcome.redacted > 0
    assert outcome.tally.calls == 25
    left = everything_under(tmp_path)
    assert not [form for form in FORMS if form in left]
    assert "Your key is [REDACTED], [REDACTED]." in left
    monkeypatch.delenv("CANARY_KEY")
    assert replay(Study(folder), verify_checksums=True).ok


def test_a_key_in_a_prompt_is_refused_before_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study file that holds the key where it would be stored sends nothing."""
    monkeypatch.setenv("CANARY_KEY", CANARY)
    with Loopback(Provider()) as server:
        extra = f'[ddft.params.interviewer]\nuser = "me:{CANARY}"\n'
        folder = write(tmp_path, server.url, extra)
        with pytest.raises(KeyInRequest, match=r"turn-1/interviewer.*not sent"):
            Recording(Study(folder)).run()
        assert server.answered == 0


def test_a_missing_key_is_told_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the model and the environment variable."""
    monkeypatch.delenv("CANARY_KEY", raising=False)
    folder = write(tmp_path, "http://127.0.0.1:1")
    with pytest.raises(UsageError, match=r"models\..* CANARY_KEY, which is not set"):
        Recording(Study(folder))
