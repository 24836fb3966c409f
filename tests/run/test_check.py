"""harness check: each endpoint is asked one small question for each of its roles."""

from __future__ import annotations

from pathlib import Path

from drilling import answering, role, said, world, write_drill
from loopback import Answer, Loopback, Received, json_answer
from study_folder import edit

from harness.run.check import check_endpoints
from harness.study import Study

GOOD = '{"far": 1}'


def states(study: Study) -> dict[str, tuple[bool, str]]:
    return {state.name: (state.ok, state.words) for state in check_endpoints(study)}


def serving(received: Received, answer: Answer) -> Answer:
    """Give the JSON that is asked for, in every role."""
    return answer if role(received) == "source" else said(GOOD)


def test_every_role_and_every_source_is_asked(tmp_path: Path) -> None:
    """A model with two roles is asked twice, with the parameters of each; sources look up."""
    with Loopback(answering(world(), serving)) as server:
        study = write_drill(tmp_path, server.url)
        edit(study, 'evaluator = "evaluator"', 'evaluator = "target-1"')
        edit(study, "[record]", "[depthcharge.params.evaluator]\nmax_tokens = 77\n[record]")
        found = states(Study(study.folder))
        tokens = [r.json().get("max_tokens") for r in server.received if role(r) == "target-1"]
    assert set(found) == {"target-1 (target)", "target-1 (evaluator)", "extractor (extractor)"} | {
        "wiki",
        "engine",
    }
    assert all(ok for ok, _ in found.values()), found
    assert tokens == [None, 77]


def test_who_cannot_give_json_is_told(tmp_path: Path) -> None:
    """Prose is fine for a target, and not for an extractor or an evaluator."""

    def chatty(received: Received, answer: Answer) -> Answer:
        return answer if role(received) == "source" else said("Certainly!")

    with Loopback(answering(world(), chatty)) as server:
        found = states(write_drill(tmp_path, server.url))
    assert {name for name, (ok, _) in found.items() if not ok} == {
        "extractor (extractor)",
        "evaluator (evaluator)",
    }
    assert "JSON no_json" in found["evaluator (evaluator)"][1]


def test_what_refuses_is_told(tmp_path: Path) -> None:
    """A wrong key, a parameter that is not accepted, a source at a wrong address."""

    def refusing(received: Received, answer: Answer) -> Answer:
        instead = {
            "target-1": json_answer({"error": "no temperature"}, 400),
            "extractor": json_answer({"error": "no such key"}, 401),
            "source": json_answer({"error": "moved"}, 410),
        }
        return instead.get(role(received), said(GOOD))

    with Loopback(answering(world(), refusing)) as server:
        found = states(write_drill(tmp_path, server.url))
    told = {name: words for name, (ok, words) in found.items() if not ok}
    assert "parameters are not accepted" in told["target-1 (target)"]
    assert "401" in told["extractor (extractor)"]
    assert "410" in told["engine"]
    assert "evaluator (evaluator)" not in told
