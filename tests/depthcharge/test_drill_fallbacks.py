"""What a drill's extractor and evaluator fall back to is counted, with its share."""

from __future__ import annotations

import json
from pathlib import Path

from drilling import answering, role, said, world, write_drill
from loopback import Answer, Loopback, Received
from simulated_drill import question

from harness.results import DrillResults, Fallback
from harness.run.record import Recording
from harness.run.replay import replayed_results
from harness.study.folder import Study


def results_of(study: Study) -> DrillResults:
    assert Recording(study, keep_going=True).run().problems == []
    results = replayed_results(study)
    assert isinstance(results, DrillResults)
    return results


def shares(results: DrillResults) -> dict[str, Fallback]:
    return {fallback.name: fallback for fallback in results.fallbacks.shares}


def content(answer: Answer) -> str:
    return str(json.loads(answer.body)["choices"][0]["message"]["content"])


def test_slots_that_are_dealt_anew_are_counted(tmp_path: Path) -> None:
    """Every later deal of a slot counts, of all deals there were."""
    with Loopback(answering(world(accuracy=(0.9,), absent=0.4))) as server:
        results = results_of(write_drill(tmp_path, server.url))
    deals = [probe.deal for probe in results.cells[0].probes]
    anew = shares(results)["questions dealt anew"]
    assert anew.count == sum(deal > 1 for deal in deals) > 0
    assert anew.share.n == len(deals)


def asked_for(received: Received) -> tuple[str, bool]:
    """Return the task of a question on a passage, "" for others, and whether it is asked again."""
    if role(received) != "extractor":
        return "", False
    tasks = [message["content"] for message in received.json()["messages"]]
    task = next((task for task in reversed(tasks) if "Passage, from" in task), "")
    return ("", False) if "Split the field" in tasks[-1] else (task, tasks[-1] != task)


def test_a_question_that_had_to_be_asked_for_again_is_a_second_ask(tmp_path: Path) -> None:
    """A question without a question mark is asked for once more: one more call, still usable."""

    def twist(received: Received, answer: Answer) -> Answer:
        task, again = asked_for(received)
        if not task:
            return answer
        made = question(task)
        return said(made if again else made.replace("?", "."))

    with Loopback(answering(world(accuracy=(1.0,)), twist)) as server:
        results = results_of(write_drill(tmp_path, server.url, questions=2, max_depth=1))
    [evaluator, extractor] = results.fallbacks.replies
    assert (evaluator.role, extractor.role) == ("evaluator", "extractor")
    assert extractor.unusable == {}
    assert extractor.second_asks == evaluator.usable == 2
    assert extractor.calls == extractor.usable + 2
    assert shares(results)["second asks"].count == 2


def test_a_question_that_stays_unusable_is_counted_once(tmp_path: Path) -> None:
    """Two replies without a question mark are one unusable question, and its cause is named."""

    def twist(received: Received, answer: Answer) -> Answer:
        task, _ = asked_for(received)
        return said(question(task).replace("?", ".")) if task else answer

    with Loopback(answering(world(), twist)) as server:
        results = results_of(write_drill(tmp_path, server.url, questions=1, redeals=0))
    [extractor] = results.fallbacks.replies
    assert set(extractor.unusable) == {"unusable question"}
    assert extractor.second_asks == extractor.unusable["unusable question"]


def test_repairs_of_the_evaluator_are_counted(tmp_path: Path) -> None:
    """A verdict in a fence counts as repaired, and is the verdict that it was."""

    def twist(received: Received, answer: Answer) -> Answer:
        if role(received) != "evaluator":
            return answer
        return said(f"```json\n{content(answer)}\n```")

    with Loopback(answering(world(), twist)) as server:
        results = results_of(write_drill(tmp_path, server.url, questions=3, max_depth=1))
    evaluator = results.fallbacks.replies[0]
    assert (evaluator.repaired, evaluator.usable) == (3, 3)
