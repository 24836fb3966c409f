"""Cost: estimated before, counted while recording, limited, kept with the study."""

import json
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_text import study_text

from harness.cli import main
from harness.errors import UsageError
from harness.run.budget import Budget, CostLimit
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.study.folder import Study

NAMES = ("subject-a", "interviewer", "judge-a", "judge-b", "judge-c")
ROLES = "".join(
    f"[ddft.params.{role}]\nmax_tokens = 50\n" for role in ("subject", "interviewer", "judge")
)


def write(root: Path, url: str) -> Path:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True)
    text = study_text(url, subjects=("subject-a",), levels="[0.0, 0.5]", extra=ROLES)
    (folder / "study.toml").write_text(text)
    return folder


def price_list(root: Path, names: tuple[str, ...] = NAMES) -> Path:
    path = root / "prices.toml"
    rows = "".join(f"[models.{name}]\nprompt = 1000.0\ncompletion = 2000.0\n" for name in names)
    path.write_text(f'as_of = 2026-01-31\ncurrency = "EUR"\n{rows}')
    return path


def test_the_cost_is_counted_kept_and_replayed(tmp_path: Path) -> None:
    """What was spent is the tokens of the answers at the listed prices; a replay spends nothing."""
    with Loopback(Provider()) as server:
        folder = write(tmp_path, server.url)
        outcome = Recording(Study(folder), price_file=price_list(tmp_path)).run()
    results = json.loads((folder / "results.json").read_text())
    tokens = [(m["prompt_tokens"], m["completion_tokens"]) for m in results["spending"]["models"]]
    expected = sum(asked * 1000 + said * 2000 for asked, said in tokens) / 1e6
    assert results["spending"]["total"]["value"] == pytest.approx(expected, rel=1e-9)
    assert outcome.spent == pytest.approx(expected, rel=1e-9)
    assert results["spending"]["as_of"] == "2026-01-31"
    verdict = replay(Study(folder), verify_checksums=True)
    assert verdict.ok
    assert f"recorded cost {expected:.4f} EUR, spent 0" in verdict.line


def test_an_unknown_cost_is_null_never_zero(tmp_path: Path) -> None:
    """Without a price, or with an answer that names no tokens, the cost is unknown, with why."""
    provider = Provider()

    def reply(received: Received) -> Answer:
        answer = provider(received)
        if received.json()["model"] != "judge-b":
            return answer
        body = json.loads(answer.body)
        del body["usage"]
        return json_answer(body)

    with Loopback(reply) as server:
        folder = write(tmp_path, server.url)
        prices = price_list(tmp_path, NAMES[:4])
        outcome = Recording(Study(folder), price_file=prices).run()
    assert outcome.spent is None
    spending = json.loads((folder / "results.json").read_text())["spending"]
    why = {model["model"]: model["cost"]["reason"] for model in spending["models"]}
    assert why["judge-b"] == "10 answers name no tokens"
    assert why["judge-c"] == "no price"
    assert why["judge-a"] is None
    assert spending["total"]["value"] is None


def test_a_limit_is_never_passed_and_the_study_goes_on(tmp_path: Path) -> None:
    """The recording stops cleanly with exit 3 under the limit, and goes on with a higher one."""
    with Loopback(Provider()) as server:
        folder = write(tmp_path, server.url)
        prices = str(price_list(tmp_path))
        words = ["record", str(folder), "--prices", prices, "--cost-limit"]
        done = CliRunner().invoke(main, [*words, "20"])
        assert done.exit_code == 3
        assert "cost limit of 20" in done.output
        assert 0 < server.answered < 50
        before = server.answered
        done = CliRunner().invoke(main, [*words, "1000000"])
        assert done.exit_code == 0
        assert server.answered == 50
        assert before < 50
    assert replay(Study(folder), verify_checksums=True).ok


def test_a_limit_without_prices_is_a_mistake(tmp_path: Path) -> None:
    """A limit that cannot be kept is refused before anything is sent, naming the model."""
    folder = write(tmp_path, "http://127.0.0.1:1")
    with pytest.raises(UsageError, match="price of judge-c is not known"):
        Recording(Study(folder), price_file=price_list(tmp_path, NAMES[:4]), cost_limit=1.0)


def test_a_limit_needs_a_token_limit_in_every_role(tmp_path: Path) -> None:
    """One role without a limit may cost anything: refused before anything is sent."""
    folder = write(tmp_path, "http://127.0.0.1:1")
    file = folder / "study.toml"
    text = file.read_text()
    assert "[ddft.params.judge]\nmax_tokens = 50\n" in text
    file.write_text(text.replace("[ddft.params.judge]\nmax_tokens = 50\n", ""))
    with pytest.raises(UsageError, match="as judge has no token limit"):
        Recording(Study(folder), price_file=price_list(tmp_path), cost_limit=1.0)


def test_calls_in_flight_count_at_their_maximum() -> None:
    """Two threads cannot both take the last of the money."""
    budget, taken, refused = Budget(10.0), [], []

    def take() -> None:
        try:
            budget.hold(6.0, "call")
            taken.append(1)
        except CostLimit:
            refused.append(1)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(taken), len(refused)) == (1, 7)
    budget.settle(6.0, 1.0)
    assert budget.spent == 1.0
    budget.hold(9.0, "call")


def test_a_dry_run_calls_nobody_and_writes_nothing(tmp_path: Path) -> None:
    """Cells, calls, tokens and cost are printed; the folder stays as it was."""
    with Loopback(Provider()) as server:
        folder = write(tmp_path, server.url)
        words = ["record", str(folder), "--dry-run", "--prices", str(price_list(tmp_path))]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0
        assert server.received == []
        dry = {line.split(":")[0]: line for line in done.output.splitlines()}
        assert "mine: 2 cells" in dry["mine"] + done.output
        assert "subject-a: 10 calls" in dry["subject-a"]
        assert "at most 500 out" in dry["subject-a"]
        assert "EUR with every second ask" in dry["total"]
        assert [path.name for path in folder.iterdir()] == ["study.toml"]
        Recording(Study(folder), price_file=price_list(tmp_path)).run()
    results = json.loads((folder / "results.json").read_text())
    calls = {model["model"]: model["calls"] for model in results["spending"]["models"]}
    assert calls == {
        "subject-a": 10,
        "interviewer": 10,
        "judge-a": 10,
        "judge-b": 10,
        "judge-c": 10,
    }
