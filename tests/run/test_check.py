"""harness check: each endpoint is asked one small question for each of its roles."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from drilling import answering, role, said, world, write_drill
from examined import LOST, UNREADABLE
from loopback import Answer, Loopback, Received, json_answer
from study_folder import edit

from harness.cli import main
from harness.run.check import check_endpoints
from harness.study.folder import Study

GOOD = '{"far": 1}'


def states(study: Study) -> dict[str, tuple[bool, str]]:
    return {state.name: (state.ok, state.words) for state in check_endpoints(study)}


def serving(received: Received, answer: Answer) -> Answer:
    """Give the JSON that is asked for, in every role, as the model that was asked for."""
    return answer if role(received) == "source" else served(role(received))


def served(name: str) -> Answer:
    choice = {"index": 0, "message": {"content": GOOD}, "finish_reason": "stop"}
    return json_answer({"model": name, "choices": [choice]})


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
        study = write_drill(tmp_path, server.url)
        for name in study.file.models:
            edit(study, f'model = "{name}"', f'model = "{name}"\nserved_as = ["made-up"]')
        found = states(Study(study.folder))
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
        return instead.get(role(received), served(role(received)))

    with Loopback(answering(world(), refusing)) as server:
        found = states(write_drill(tmp_path, server.url))
    told = {name: words for name, (ok, words) in found.items() if not ok}
    assert "parameters are not accepted" in told["target-1 (target)"]
    assert "401" in told["extractor (extractor)"]
    assert "410" in told["engine"]
    assert "evaluator (evaluator)" not in told


@pytest.mark.parametrize(
    ("name", "allowed", "ok"),
    [
        ("target-1-2025-08-07", "", True),
        ("target-1-20250807", "", True),
        ("TARGET-1", "", True),
        ("", "", True),
        ("target-1-mini", "", False),
        ("target-10", "", False),
        ("qwen-0.5b", "", False),
        ("qwen-0.5b", '"llama*"', False),
        ("qwen-0.5b", '"qwen-*", "llama*"', True),
    ],
)
def test_another_model_than_the_one_asked_for_is_a_warning(
    tmp_path: Path, name: str, allowed: str, ok: bool
) -> None:
    """Exit 1 with both names and the setting that allows it; a date behind the name is no other."""

    def serving_another(received: Received, answer: Answer) -> Answer:
        if role(received) == "source":
            return answer
        return served(name if role(received) == "target-1" else role(received))

    with Loopback(answering(world(), serving_another)) as server:
        study = write_drill(tmp_path, server.url)
        edit(study, 'model = "target-1"', f'model = "target-1"\nserved_as = [{allowed}]')
        done = CliRunner().invoke(main, ["check", str(study.folder)])
    assert done.exit_code == (0 if ok else 1), done.output
    assert ("warning: if that is the model you want" in done.output) is not ok
    if not ok:
        assert f"serves {name} (asked for target-1)" in done.output
        assert f'served_as = ["{name}"] in [models.target-1]' in done.output


@pytest.mark.parametrize(("allowed", "code"), [("", 1), ("cheap", 0)])
def test_another_model_of_one_word_is_a_warning(tmp_path: Path, allowed: str, code: int) -> None:
    """An evaluator that says one word is held to its name like one that replies in JSON."""

    def serving_another(received: Received, answer: Answer) -> Answer:
        if role(received) != "evaluator":
            return answer if role(received) == "source" else served(role(received))
        choice = {"message": {"content": "Yes"}, "finish_reason": "stop"}
        return json_answer({"model": "cheap", "choices": [choice]})

    with Loopback(answering(world(), serving_another)) as server:
        study = write_drill(tmp_path, server.url, evaluator_form="verdict")
        edit(study, 'model = "evaluator"', f'model = "evaluator"\nserved_as = ["{allowed}"]')
        done = CliRunner().invoke(main, ["check", str(study.folder)])
    assert done.exit_code == code, done.output
    assert ('served_as = ["cheap"] in [models.evaluator]' in done.output) is (code == 1)


def test_who_gives_no_answer_is_told_why(tmp_path: Path) -> None:
    """A token limit that ends in thought, a filter, a page in place of a reply: not usable."""

    def failing(received: Received, answer: Answer) -> Answer:
        instead = {
            "target-1": LOST["null at the limit"][0],
            "extractor": LOST["Azure's 400"][0],
            "evaluator": UNREADABLE["a gateway's page"],
        }
        return instead.get(role(received), answer)

    with Loopback(answering(world(), failing)) as server:
        told = states(write_drill(tmp_path, server.url))
    target, extractor, evaluator = (
        told[f"{name} ({part})"]
        for name, part in (
            ("target-1", "target"),
            ("extractor", "extractor"),
            ("evaluator", "evaluator"),
        )
    )
    assert not target[0]
    assert "cut off while thinking" in target[1]
    assert "raise it" in target[1]
    assert not extractor[0]
    assert "filtered" in extractor[1]
    assert not evaluator[0]
    assert "no reply" in evaluator[1]
    assert "502" in evaluator[1]
