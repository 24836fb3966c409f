"""Any command's evaluation as a study: recorded through the proxy, replayed apart from all else."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Answer, Loopback, Received, json_answer

from harness.errors import CheckFailed, UsageError
from harness.run.commands import can_isolate_here
from harness.run.record import Recording, RecordOutcome
from harness.run.verdict import Verdict, replay
from harness.study.folder import Study

pytestmark = pytest.mark.skipif(not can_isolate_here(), reason="needs user namespaces")

STUDY = """
title = "Does it count?"
protocol = "program"
as_of = 2026-12-01

[program]
command = ["python", "eval.py", "{{seed}}"]
files = ["eval.py"]
outputs = ["scores-{{seed}}.json", "answers.csv", "log.txt"]
grid = {{ seed = [1, 2] }}
timeout = 60

[endpoints.model]
base_url = "{url}/v1"
kind = "openai"
"""
PROGRAM = """\
import json, os, sys, urllib.request

def ask(prompt, url=os.environ["OPENAI_BASE_URL"]):
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
    request = urllib.request.Request(
        url + "/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]

seed = sys.argv[1]
answers = [ask(f"question {number} of {seed}") for number in range(3)]
with open(f"scores-{seed}.json", "w") as file:
    json.dump({"length": sum(map(len, answers)), "share": 1 / 3}, file)
with open("answers.csv", "w") as file:
    file.write("n,answer\\n" + "".join(f"{n},{text}\\n" for n, text in enumerate(answers)))
with open("log.txt", "w") as file:
    file.write("done\\n")
"""


def model(received: Received) -> Answer:
    """Answer by content, as an OpenAI-compatible server."""
    prompt = received.json()["messages"][0]["content"]
    choice = {"message": {"content": f"re: {prompt}"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    return json_answer({"model": "m-1", "choices": [choice], "usage": usage})


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what this machine agreed to run apart from the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("HARNESS_RUN_PROGRAM", raising=False)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(model) as running:
        yield running


def make(tmp_path: Path, url: str, program: str = PROGRAM) -> Study:
    """Write a study."""
    folder = tmp_path / "root" / "cassettes" / "counts"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY.format(url=url))
    (folder / "eval.py").write_text(program)
    return Study(folder)


def record(study: Study) -> RecordOutcome:
    """Record a study from its start or from where it stands."""
    return Recording(study).run()


def refusal(study: Study) -> str:
    """Return why a study is not recorded."""
    with pytest.raises(CheckFailed) as error:
        record(study)
    return str(error.value)


@pytest.fixture
def study(tmp_path: Path, server: Loopback) -> Study:
    """Return a recorded study; its server is gone in a replay, which has no way to it anyway."""
    made = make(tmp_path, server.url)
    assert record(made).problems == []
    return made


def edited(study: Study, old: str, new: str) -> Verdict:
    """Replay a study whose program was changed by hand, on the owner's word."""
    path = study.folder / "eval.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    os.environ["HARNESS_RUN_PROGRAM"] = "1"
    try:
        return replay(Study(study.folder), verify_checksums=False)
    finally:
        del os.environ["HARNESS_RUN_PROGRAM"]


def test_a_replay_makes_the_outputs_again(study: Study, server: Loopback) -> None:
    """Every output of every cell is made anew without a call, and is the same to the byte."""
    sent = len(server.received)
    verdict = replay(study, verify_checksums=True)
    assert (verdict.problems, verdict.cells, verdict.matched, sent) == ([], 2, 6, 6)
    assert len(server.received) == sent
    assert "outputs identical 6/6" in verdict.line
    assert "isolation own network, files read-only 2/2" in verdict.line
    assert json.loads((study.folder / "outputs/seed=1/scores-1.json").read_text())["length"] == 57


def test_results_hold_the_outputs(study: Study) -> None:
    """JSON and CSV stand there as numbers, anything else as its hash; calls and tokens, too."""
    results = json.loads(study.results.read_text())
    scores, answers, log = results["cells"][0]["outputs"]
    assert scores["content"] == {"length": 57, "share": 0.333333333333}
    assert answers["content"][1] == [0.0, "re: question 0 of 1"]
    assert len(log["sha256"]) == 64
    assert results["spending"]["models"][0]["prompt_tokens"] == 18


def test_a_changed_comment_changes_nothing(study: Study) -> None:
    """What is asked and made is compared, not the program's text."""
    assert edited(study, "import json", "# a comment\nimport json").problems == []


def test_a_changed_word_is_shown(study: Study) -> None:
    """A program that asks something else ends at once, with the difference."""
    problems = "\n".join(edited(study, "question {number}", "query {number}").problems)
    assert "[question] 0 of 1" in problems
    assert "[query] 0 of 1" in problems


def test_a_call_less_is_unused(study: Study) -> None:
    """What is recorded and not asked is named."""
    verdict = edited(study, "range(3)", "range(2)")
    assert verdict.unused == 2
    assert "does less than when it was recorded" in verdict.problems[0]


def test_other_numbers_are_named(study: Study) -> None:
    """The first number that differs is named with both values; rounding is not a difference."""
    problems = "\n".join(edited(study, "1 / 3", "1 / 4").problems)
    assert "scores-1.json" in problems
    assert "0.25" in problems


def test_rounding_is_equal(study: Study) -> None:
    """JSON to 1e-9 is equal, and the verdict says that it is not identical."""
    verdict = edited(study, "1 / 3", "1 / 3 + 1e-13")
    assert verdict.problems == []
    assert "outputs equal to 1e-9 2/6, outputs identical 4/6" in verdict.line


def test_past_the_proxy_altogether(tmp_path: Path, server: Loopback) -> None:
    """A program that does not ask the proxy is no recording: 0 calls, and where it wanted to go."""
    program = PROGRAM.replace('os.environ["OPENAI_BASE_URL"]', f'"{server.url}/v1"')
    words = refusal(make(tmp_path, server.url, program))
    assert "exit code 1, and 1 attempts to connect past it were refused" in words
    caught = program.replace("answers = [", "answers = [] and [")
    shutil.rmtree(tmp_path / "root")
    words = refusal(make(tmp_path, server.url, caught))
    assert "0 calls went through the proxy" in words
    assert server.received == []


def test_one_call_past_the_proxy(tmp_path: Path, server: Loopback) -> None:
    """Of a program that swallows the refusal, the attempt is counted, and the recording fails."""
    past = f"""
try:
    ask("past", "{server.url}/v1")
except OSError:
    pass
"""
    words = refusal(make(tmp_path, server.url, PROGRAM + past))
    assert "3 calls went through the proxy, and 1 attempts" in words


def test_stale_outputs_and_unlisted_files_do_not_help(tmp_path: Path, server: Loopback) -> None:
    """A cell sees copies of its files and nothing else of the study's folder."""
    study = make(tmp_path, server.url, PROGRAM + 'open("notes.txt")\n')
    (study.folder / "notes.txt").write_text("unlisted")
    assert "notes.txt" in refusal(study)
    study = make(tmp_path / "stale", server.url, PROGRAM.split("with open(f")[0])
    (study.folder / "scores-1.json").write_text("{}")
    assert "did not make scores-" in refusal(study)


def test_a_strangers_program_is_not_run_unasked(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it was not recorded, a replay says what it would run, and runs it on the word."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(UsageError, match=r"runs its program on this machine.*--run-program"):
        replay(study)
    monkeypatch.setenv("HARNESS_RUN_PROGRAM", "1")
    assert replay(study).ok


def test_a_damaged_output_is_a_verdict(study: Study) -> None:
    """Without the manifest, the output that is kept is compared with the one made again."""
    (study.folder / "outputs/seed=2/log.txt").write_text("DONE\n")
    verdict = replay(study, verify_checksums=False)
    assert "log.txt is different: line 1" in verdict.problems[0]
    assert not replay(study, verify_checksums=True).ok


def test_a_program_that_writes_and_hides(tmp_path: Path, server: Loopback) -> None:
    """It may write in its own folder, and nowhere else."""
    outside = tmp_path / "outside.txt"
    study = make(tmp_path, server.url, PROGRAM + f'open({str(outside)!r}, "w")\n')
    assert "Read-only file system" in refusal(study)
    assert not outside.exists()


def test_a_program_that_takes_too_long(tmp_path: Path, server: Loopback) -> None:
    """Its time is up: it is ended with all it started."""
    study = make(tmp_path, server.url, PROGRAM + "import time; time.sleep(60)\n")
    text = (study.folder / "study.toml").read_text().replace("timeout = 60", "timeout = 1")
    (study.folder / "study.toml").write_text(text.replace("[1, 2]", "[1]"))
    assert "ran longer than 1 s" in refusal(Study(study.folder))


def test_different_each_time(tmp_path: Path, server: Loopback) -> None:
    """Outputs that the recording does not decide fail when it ends, not at a reader's."""
    program = PROGRAM.replace('"done\\n"', "str(os.urandom(8))")
    with pytest.raises(CheckFailed, match=r"log\.txt is different"):
        record(make(tmp_path, server.url, program))


def test_a_killed_recording_goes_on(tmp_path: Path) -> None:
    """After kill -9 the program runs again; what was answered is not asked again."""
    asked: list[str] = []

    def slow(received: Received) -> Answer:
        asked.append(received.json()["messages"][0]["content"])
        if len(asked) == 2:
            os.kill(process.pid, signal.SIGKILL)
            time.sleep(0.5)
        return model(received)

    with Loopback(slow) as server:
        study = make(tmp_path, server.url)
        command = [sys.executable, "-m", "harness", "record", str(study.folder), "--workers", "1"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        assert process.wait() == -signal.SIGKILL
        assert record(study).problems == []
    assert asked[0] == "question 0 of 1"
    assert asked.count("question 0 of 1") == 1
    assert replay(study, verify_checksums=True).ok
