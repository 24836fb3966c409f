"""Studies for the report: one whose models say what could harm a page, and a drill with faults."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from drilling import answering, role, said, world, write_drill
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider, md5
from study_folder import write_study

from harness.run.record import Recording
from harness.study.folder import Study

SCRIPT = "<script>window.harmed = true</script><img src=x onerror='window.harmed=true'>"
END = "</script></pre></td></section><h1>out</h1>-->]]>"
MARKDOWN = "# title\n\n**bold** [link](javascript:window.harmed=true) ![](http://127.0.0.1/x)"
REVERSED = "\u202egnorw si siht \u2067\u200f abc \u2066 \u202c"
LONG_WORD = "w" * 2000
ODD = "\u0000\ufeff\u2028\ufffd${harmed}{{ 7 * 7 }}{% raw %}&lt;b&gt;&amp;"
WORDS = "\n\n".join((SCRIPT, END, MARKDOWN, REVERSED, LONG_WORD, ODD))
SERVED = f'"><b>served</b>{SCRIPT}{REVERSED}{LONG_WORD}'


def harmful(received: Received) -> Answer:
    """Answer as the provider does, but with words that want to be more than words."""
    answer = Provider()(received)
    body = json.loads(answer.body)
    message = body["choices"][0]["message"]
    if body["model"].startswith("judge"):
        scores = json.loads(message["content"])
        message["content"] = json.dumps({**scores, "far_reason": WORDS, "sas_reason": END})
    elif body["model"].startswith("subject"):
        message["content"] = f"{message['content']}\n\n{WORDS}"
    body["model"] = SERVED
    return json_answer(body)


def hostile_study(root: Path, levels: str = "[0.0, 1.0]") -> Study:
    """Record a small study with such models."""
    with Loopback(harmful) as server:
        study = write_study(root, server.url, levels=levels)
        _record(study)
    return study


def faulty(received: Received, answer: Answer) -> Answer:
    """Let every tenth verdict of an evaluator be prose, both times it is asked."""
    if role(received) != "evaluator":
        return answer
    said_before = [message["content"] for message in received.json()["messages"]]
    task = next(text for text in reversed(said_before) if "Fact that was looked up" in text)
    return (
        said(f"I would rather not. {SCRIPT}") if int(md5(task.encode()), 16) % 10 == 0 else answer
    )


def drill_study(root: Path, questions: int = 6, max_depth: int = 3, targets: int = 2) -> Study:
    """Record a drill in which facts are absent and verdicts missing."""
    tested_world = world(accuracy=(0.9, 0.8, 0.6), absent=0.5)
    with Loopback(answering(tested_world, faulty)) as server:
        study = write_drill(
            root,
            server.url,
            targets=tuple(f"target-{number}" for number in range(1, targets + 1)),
            domains=("Medicine", "Ancient Rome"),
            questions=questions,
            max_depth=max_depth,
            missing_limit=0.5,
        )
        _record(study)
    return study


def _record(study: Study) -> None:
    outcome = Recording(study, keep_going=True).run(4)
    assert outcome.problems == [], outcome.problems


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    hostile_study(folder / "hostile")
    drill_study(folder / "drill", questions=12, max_depth=8, targets=3)
