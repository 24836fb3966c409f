"""A provider that fails in every way, a judge that fails, and orders that decide nothing."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider, chance, draw, error_answer, md5
from study_folder import kept_calls, left_over, write_study
from study_text import study_text

from harness.cli import main
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.study.folder import Study

SHARE = 0.1  # of all calls
TIMEOUT = 0.6  # seconds
SUBJECTS, CONCEPTS = ("subject-a", "subject-b"), ("harm-principle", "recursion")
NOW = [("Retry-After", "0")]
TOO_MANY = json_answer({"error": {"message": "slow down"}}, 429, NOW)
PASSING: dict[str, Answer] = {
    "429": TOO_MANY,
    "500": json_answer({"error": {"message": "injected"}}, 500, NOW),
    "529": json_answer({"error": {"message": "overloaded"}}, 529, NOW),
    "dropped": Answer(status=0),
    "cut": Answer(headers=TOO_MANY.headers, body=b'{"id": "chatcmpl', cut=True),
    "timeout": Answer(status=0, hang=True),
}
Words = tuple[str | None, str]
LASTING: dict[str, Words] = {
    "empty": ("", "stop"),
    "null": (None, "stop"),
    "refusal": ("I'm sorry, but I can't help with that.", "stop"),
    "filter": (None, "content_filter"),
    "truncated": ('{"far": 0.8, "far_reason": "Mostly', "length"),
}
REJECTED = "rejected"
KINDS = [*LASTING, REJECTED]


class HardProvider:
    """Fail a tenth of all calls: half of them once, half of them at every try of the same body.

    Passing faults take turns. `met` counts the faults by kind, `answered` the bodies whose answer
    left completely.
    """

    def __init__(self, seed: str, passing: bool = True) -> None:
        self.met: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self._seed, self._passing = seed, passing
        self._plain, self._guard = Provider(), threading.Lock()
        self._turned_away: set[str] = set()
        self._turns = cycle(PASSING)

    def __call__(self, received: Received) -> Answer:
        kind = self._fault(md5(received.body))
        self.met[kind] += 1
        if kind in PASSING:
            return PASSING[kind]
        if kind == REJECTED:
            return error_answer(400, "content_filter: the prompt was rejected")
        answer = self._plain(received)
        return with_words(answer, *LASTING[kind]) if kind else answer

    def sent(self, received: Received, answer: Answer) -> None:
        """Hear that an answer has left."""
        if answer.status in (200, 400) and answer.ends:
            with self._guard:
                self.answered[md5(received.body)] += 1

    def _fault(self, mark: str) -> str:
        place = chance(self._seed, mark)
        if place >= SHARE:
            return ""
        if place < SHARE / 2:
            return KINDS[draw(self._seed, mark, "kind") % len(KINDS)]
        with self._guard:
            if not self._passing or mark in self._turned_away:
                return ""
            self._turned_away.add(mark)
            return next(self._turns)


def with_words(answer: Answer, text: str | None, finish: str) -> Answer:
    """Give a chat completion with other words in it."""
    body = json.loads(answer.body)
    body["choices"][0] |= {"finish_reason": finish}
    body["choices"][0]["message"]["content"] = text
    return json_answer(body)


def hard_study(root: Path, url: str, tries: int) -> Study:
    """Write a study of 20 cells for a provider that is slow to answer now and then."""
    study = write_study(
        root,
        url,
        subjects=SUBJECTS,
        concepts=CONCEPTS,
        levels="[0.0, 0.25, 0.5, 0.75, 1.0]",
        record=f"tries = {tries}\nworkers = 8",
    )
    path = study.folder / "study.toml"
    text = path.read_text().replace("\nmodel = ", f"\ntimeout = {TIMEOUT}\nmodel = ")
    path.write_text(text.replace("levels =", "missing_limit = 0.25\nlevels ="))
    return Study(study.folder)


def recorded_in_rounds(study: Study, provider: HardProvider) -> Iterator[int]:
    """Record until it is complete, and give each round's exit code.

    A round asks for nothing that was kept before it.
    """
    while True:
        kept, answered = kept_calls(study), Counter(provider.answered)
        code = CliRunner().invoke(main, ["record", str(study.folder)]).exit_code
        yield code
        now = kept_calls(study)
        assert now - kept == provider.answered - answered
        if code != 3:
            return


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the results where the same provider never has a passing fault."""
    calm = HardProvider("hard", passing=False)
    with Loopback(calm, calm.sent) as server:
        study = hard_study(tmp_path_factory.mktemp("undisturbed"), server.url, 1)
        assert list(recorded_in_rounds(study, calm)) == [0]
    return study.results.read_bytes()


@pytest.mark.parametrize("tries", [1, 3])
def test_a_hard_provider(tries: int, undisturbed: bytes, tmp_path: Path) -> None:
    """A tenth of all calls fails: the study completes or stops with 3, resumes, and replays.

    No finished call is sent twice, and the passing faults leave no trace in the numbers.
    """
    hard = HardProvider("hard")
    with Loopback(hard, hard.sent) as server:
        study = hard_study(tmp_path, server.url, tries)
        codes = list(recorded_in_rounds(study, hard))
    assert codes[-1] == 0
    assert set(codes[:-1]) <= {3}
    assert (len(codes) > 1) == (tries == 1)
    assert hard.answered == kept_calls(study)
    assert left_over(study) == []
    assert {*PASSING, *KINDS, ""} == set(hard.met), "a fault was never met: choose another seed"
    verdict = replay(study, verify_checksums=True)
    assert (verdict.problems, verdict.numbers, verdict.unused) == ([], "identical", 0)
    assert verdict.matched == hard.answered.total()
    assert study.results.read_bytes() == undisturbed


class FailingJudge:
    """Play three judges, the first of whom refuses a share of the answers, in changed seats.

    The judge in `seat` (0 to 2) fails; the answers depend on who judges and on what, not on names.
    """

    def __init__(self, seat: int, share: float) -> None:
        names = ("judge-a", "judge-b", "judge-c")
        self._who = {names[(seat + i) % 3]: names[i] for i in range(3)}
        self._share, self._plain = share, Provider()

    def __call__(self, received: Received) -> Answer:
        body = received.json()
        name = body["model"]
        body["model"] = who = self._who.get(name, name)
        data = json.dumps(body).encode()
        asked = Received(received.method, received.path, "", [], data, received.number)
        answer = self._plain(asked)
        if who == "judge-a" and self._fails(body["messages"]):
            answer = with_words(answer, *LASTING["refusal"])
        return Answer(
            200, headers=answer.headers, body=answer.body.replace(who.encode(), name.encode())
        )

    def _fails(self, messages: list[dict[str, str]]) -> bool:
        """Refuse a second time too what was refused once."""
        tasks = [said["content"] for said in messages if "Answer to score:" in said["content"]]
        return chance("fails", tasks[-1]) < self._share


def judged(root: Path, seat: int, share: float) -> Study:
    """Record a small study in which one judge fails."""
    with Loopback(FailingJudge(seat, share)) as server:
        study = write_study(root, server.url, subjects=SUBJECTS, levels="[0.0, 0.5, 1.0]")
        assert Recording(study, keep_going=True).run(8).problems == []
    return study


def outcome(study: Study, names: str = "abc") -> dict[str, Any]:
    """Give a study's results, its judges named by their parts: x for the one that fails.

    names: the letters of the judges who play x, y and z.
    """
    text = study.results.read_text()
    text = re.sub(r"judge-([abc])", lambda match: f"judge-{'xyz'[names.index(match[1])]}", text)
    results: dict[str, Any] = settled(json.loads(text))
    del results["transcripts"]  # what the judges were asked and said stands in their own names
    return results


def settled(value: Any) -> Any:
    """Sort every list, and the two of a pair: judges stand in the order of their names."""
    if isinstance(value, dict):
        inner = {key: settled(part) for key, part in value.items()}
        if "first" in inner and "second" in inner:
            inner["first"], inner["second"] = sorted((inner["first"], inner["second"]))
        return inner
    return sorted(map(settled, value), key=json.dumps) if isinstance(value, list) else value


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_a_failing_judge_counts_the_same_in_every_seat(share: float, tmp_path: Path) -> None:
    """Where the failing judge sits changes its name in the results and nothing else."""
    first, second, third = (
        outcome(judged(tmp_path / str(seat), seat, share), names)
        for seat, names in enumerate(("abc", "bca", "cab"))
    )
    assert first["missing"]["missing"] > 0
    assert first["valid"] == (share < 0.15)
    assert first == second == third


def test_too_many_missing_judgements_make_a_study_invalid(tmp_path: Path) -> None:
    """Beyond the limit results.json says why it is invalid; a replay says the same, with exit 1."""
    study = judged(tmp_path, 1, 1.0)
    results = outcome(study)
    said = "30 of 90 judgements are missing (33.3%), 5.0% are allowed"
    assert (results["valid"], results["invalid_reason"]) == (False, said)
    done = CliRunner().invoke(main, ["replay", "--verify-checksums", str(study.folder)])
    assert done.exit_code == 1
    assert f"study invalid: {said}" in done.output
    assert "numbers identical" in done.output


def listed(text: str, field: str) -> list[Any]:
    """Read a list of a study file."""
    found = re.search(rf"^{field} = (\[.*\])$", text, re.MULTILINE)
    assert found
    values: list[Any] = json.loads(found[1].replace("'", '"'))
    return values


def reversed_list(field: str) -> Callable[[str], str]:
    """Turn a list of the study file round."""

    def changed(text: str) -> str:
        values = listed(text, field)
        line = f"{field} = {json.dumps(values[::-1])}"
        return re.sub(rf"^{field} = .*$", line, text, flags=re.MULTILINE)

    return changed


def reversed_models(text: str) -> str:
    """Turn the order of the models' tables round."""
    head, *tables = re.split(r"(?=^\[)", text, flags=re.MULTILINE)
    models = [table for table in tables if table.startswith("[models")]
    others = [table for table in tables if not table.startswith("[models")]
    return "".join([head, *models[::-1], *others])


ORDERS: dict[str, Callable[[str], str]] = {
    "models": reversed_models,
    **{name: reversed_list(name) for name in ("jury", "subjects", "concepts", "levels")},
}


@pytest.fixture(scope="module")
def unreliable() -> Iterator[str]:
    with Loopback(Provider(dirty=0.2)) as server:
        yield server.url


def results_in_order(root: Path, url: str, order: Callable[[str], str], workers: int) -> bytes:
    """Record a study whose file was written in another order, and give its results."""
    folder = root / "cassettes" / "small"
    folder.mkdir(parents=True)
    text = order(study_text(url, subjects=SUBJECTS, concepts=CONCEPTS, levels="[0.0, 1.0]"))
    (folder / "study.toml").write_text(text)
    assert Recording(Study(folder)).run(workers).problems == []
    return (folder / "results.json").read_bytes()


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory, unreliable: str) -> bytes:
    return results_in_order(tmp_path_factory.mktemp("order"), unreliable, lambda text: text, 1)


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_a_study_file_decides_nothing(
    order: str, unreliable: str, in_order: bytes, tmp_path: Path
) -> None:
    """Jury, subjects, concepts, levels turned round, and other workers: the same bytes."""
    assert results_in_order(tmp_path, unreliable, ORDERS[order], 8) == in_order
