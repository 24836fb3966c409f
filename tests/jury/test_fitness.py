"""harness jury check: which judges are fit, by gold answers and by what they did in a recording."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from drilling import write_drill
from jury.examiners import ANSWERS, JUDGES, evaluating, examining, of, write_study
from loopback import Loopback

from harness.api import record
from harness.cli import main
from harness.fitness.fitness import evaluator_fitness, judge_fitness
from harness.fitness.gold import packaged_gold
from harness.fitness.habits import Utterance, habits
from harness.jury.check import live_check, recorded_check
from harness.results import Fitness, Score
from harness.results.gold import FACT_ANSWERS
from harness.study.folder import Study, find_study

BUNDLED = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fitness]:
    with Loopback(examining()) as server:
        study = write_study(tmp_path_factory.mktemp("judged"), server.url)
        return {fitness.judge: fitness for fitness in live_check(study).judges}


def test_a_judge_that_reads_is_fit(judged: dict[str, Fitness]) -> None:
    """Scores near the intended bands: every AUC near 1, ranks that follow, no reason against it."""
    fitness = judged["judge-fit"]
    assert (fitness.state, fitness.reasons) == ("fit", [])
    assert [measure.value.value for measure in fitness.measures] == pytest.approx([1.0] * 3)
    assert all((measure.interval.low or 0) > 0.75 for measure in fitness.measures)
    first = fitness.measures[0]
    assert first.rank.value is not None and first.rank_interval.low is not None
    assert 0.8 < first.rank_interval.low < first.rank.value < (first.rank_interval.high or 0) < 1
    assert fitness.measures[1].rank_interval.reason is None


@pytest.mark.parametrize("name", ["judge-length", "judge-copy", "judge-constant"])
def test_a_judge_that_does_not_read_is_unfit(judged: dict[str, Fitness], name: str) -> None:
    """Scores by length, copies of examples and always the same score are unfit, and named."""
    fitness = judged[name]
    assert fitness.state == "unfit"
    assert fitness.words.startswith(f"{name} unfit (")


def test_sameness_is_named(judged: dict[str, Fitness]) -> None:
    """A constant judge is unfit as such: one value in every measure, and the reason says so."""
    fitness = judged["judge-constant"]
    assert {measure.distinct for measure in fitness.measures} == {1}
    assert "it always says the same" in fitness.reasons[0]


def test_too_few_answers_show_nothing(tmp_path: Path) -> None:
    """With one concept the interval includes 0.75, so even a good judge is not shown fit."""
    with Loopback(examining()) as server:
        study = write_study(tmp_path, server.url, ("judge-fit",))
        fitness = live_check(study, concepts=("phoneme",)).judges[0]
    assert fitness.state == "not shown fit"
    assert "0.75 is needed" in fitness.reasons[0]


def test_a_constant_judge_has_no_rank_correlation(judged: dict[str, Fitness]) -> None:
    """Where the rank correlation is null its interval is, too, with the same reason."""
    for measure in judged["judge-constant"].measures:
        assert (measure.rank.value, measure.rank_interval.low) == (None, None)
        assert measure.rank_interval.reason == measure.rank.reason is not None


def test_missing_scores_are_counted_and_not_guessed() -> None:
    """A judge without a usable score is not shown fit, and what is missing is counted."""
    answers = packaged_gold().answers
    fitness = judge_fitness("j", answers, [Score(None, None, "no_json", 2)] * len(answers), None)
    assert fitness.state == "not shown fit"
    assert [measure.missing for measure in fitness.measures] == [48, 32, 64]


def test_copies_and_sameness_show_without_gold() -> None:
    """Scores and a reason of one example make a copy; other reasons, or other scores, do not."""
    example = Utterance("", (0.8, 0.2), ("The year is right.", "Badly ordered."))
    copies = [Utterance("j", (0.8, 0.2), ("the year is  right", ""))] * 3
    others = [
        Utterance("j", (0.8, 0.3), ("The year is right.",)),
        Utterance("j", (0.8, 0.2), ("",)),
    ]
    found = habits("j", [*copies, *others, Utterance("k", (0.1, 0.1), ())], [example])
    assert (found.judgements, found.distinct, found.copied.value) == (5, 2, 0.6)


def test_the_bundled_jury_is_named_for_what_it_is() -> None:
    """The recorded dialogues show a judge that repeats its examples; the verdict line names it."""
    study = find_study("ddft-local", BUNDLED)
    assert study.file.protocol == "ddft"
    done = CliRunner().invoke(main, ["replay", "ddft-local", "--root", str(BUNDLED)])
    assert done.exit_code == 0
    check = recorded_check(study)
    assert check is not None
    unfit = [fitness.judge for fitness in check.judges if fitness.state == "unfit"]
    assert all(name in done.output for name in unfit)


def command(*words: object) -> str:
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_says_each_measure_and_who_is_unfit(tmp_path: Path) -> None:
    """`harness jury check` prints measures with intervals; with --json all of it; exit code 0."""
    with Loopback(examining()) as server:
        study = write_study(tmp_path, server.url)
        shown = command("jury", "check", study.folder)
        plain = json.loads(command("jury", "check", study.folder, "--json"))
    assert "judge-fit: FAR, good against wrong: 1.00 [0.8" in shown
    assert re.search(r"rank correlation 0\.9\d \[0\.[89]\d, \S+\] \(n=48\)", shown)
    assert {"low", "high", "level", "reason"} == set(
        plain["gold"]["judges"][0]["measures"][0]["rank_interval"]
    )
    assert "judge-fit fit" in shown and "judge-copy unfit (FAR" in shown
    states = {one["judge"]: one["state"] for one in plain["gold"]["judges"]}
    assert states == {name: "fit" if name == "judge-fit" else "unfit" for name in JUDGES}
    assert plain["recording"] is None


def test_a_gold_file_of_ones_own_is_put_before_the_judges(tmp_path: Path) -> None:
    """--gold takes another set: what it says is good is what counts."""
    text = "".join(
        f'[[answer]]\nconcept = "phoneme"\nkind = "{kind}"\nturn = 1\nquestion = "What?"\n'
        f'text = "{length * "word "}."\nfar = [0.0, 1.0]\n'
        for kind in ("good", "wrong")
        for length in (range(20, 40) if kind == "good" else range(2, 15))
    )
    (tmp_path / "gold.toml").write_text(text)
    with Loopback(examining()) as server:
        study = write_study(tmp_path, server.url, ("judge-length",))
        fitness = live_check(study, tmp_path / "gold.toml").judges[0]
    assert fitness.measures[0].value.value == 1.0


def test_check_puts_the_gold_set_with_jury_only(tmp_path: Path) -> None:
    """`harness check` spends nothing on gold answers unless --jury says so."""
    with Loopback(examining()) as server:
        study = write_study(tmp_path, server.url, ("judge-fit", "judge-constant"))
        plain = command("check", study.folder)
        few = len(server.received)
        whole = command("check", study.folder, "--jury")
        assert len(server.received) - 2 * few == 2 * len(ANSWERS)
    assert "unfit" not in plain and "judge-constant unfit" in whole


EXAM = "jury_check = true\n"


def test_a_recorded_exam_replays_and_is_in_results_verdict_and_report(tmp_path: Path) -> None:
    """The gold set is a cell of its own; its findings stand wherever the numbers are shown."""
    with Loopback(examining()) as server:
        study = write_study(tmp_path, server.url, extra=EXAM)
        assert record(str(study.folder)).problems == []
        sent = len(server.received)
    assert sent == 5 * 2 + 5 * len(JUDGES) + len(ANSWERS) * len(JUDGES)
    assert study.cassette(study.cells()[-1]).name == "jury-check.json"
    shown = command("replay", study.folder)
    assert "OK:" in shown and "cells 2/2" in shown and "judge-length unfit" in shown
    results = json.loads(study.results.read_text())
    states = {one["judge"]: one["state"] for one in results["jury"]["judges"]}
    assert states["judge-fit"] == "fit" and states["judge-copy"] == "unfit"
    assert len(results["cells"]) == 1
    assert {m["model"]: m["calls"] for m in results["spending"]["models"]}["judge-fit"] == 101
    again = command("jury", "check", study.folder)  # no server is there any more
    assert "judge-fit fit" in again
    page = tmp_path / "page.html"
    command("report", study.folder, "-o", page)
    assert (
        "judge-constant unfit" in page.read_text().split("What this study does not prove")[1][:1200]
    )


def test_a_study_with_an_exam_goes_through_every_command(tmp_path: Path) -> None:
    """analyze, diff, pack (whole and a sample), verify and show take the exam's cell in stride."""
    with Loopback(examining()) as server:
        study = write_study(tmp_path, server.url, ("judge-fit",), 'jury_check = ["phoneme"]\n')
        edited = study.folder / "study.toml"
        edited.write_text(edited.read_text().replace("levels = [0.5]", "levels = [0.0, 0.5]"))
        study = Study(study.folder)
        assert record(str(study.folder)).problems == []
    for words in (
        ("diff", study.folder, study.folder),
        ("show", study.folder, "jury-check:answer-001/judge/judge-fit"),
        ("verify", study.folder),
        ("analyze", study.folder, "--csv", tmp_path / "rows.csv"),
        ("pack", study.folder, "-o", tmp_path / "whole.tar.zst"),
        ("pack", study.folder, "--sample", "0.5", "-o", tmp_path / "sample.tar.zst"),
        ("replay", tmp_path / "whole.tar.zst"),
        ("replay", tmp_path / "sample.tar.zst"),
    ):
        command(*words)


@pytest.mark.parametrize(
    ("kind", "state"),
    [("careful", "fit"), ("echoing", "unfit"), ("yes", "unfit"), ("no", "unfit")],
)
@pytest.mark.parametrize("form", ["object", "verdict"])
def test_evaluators_by_balanced_accuracy(kind: str, state: str, form: str, tmp_path: Path) -> None:
    """One that echoes, and one that always says the same, are unfit in either form."""
    with Loopback(evaluating(kind, words=form == "verdict")) as server:
        study = write_drill(tmp_path, server.url, evaluator_form=form)
        [fitness] = live_check(study).judges
    assert fitness.state == state, fitness.words
    assert fitness.measures[0].name == "balanced accuracy"
    if kind in ("yes", "no"):
        assert fitness.measures[0].value.value == 0.5
        assert "always says the same" in fitness.reasons[0]


def test_the_rule_of_words_makes_no_evaluator_fit() -> None:
    """A "correct" for all but one is unfit, though the rule of words catches the wrong ones."""
    facts = packaged_gold().facts
    caught = {"states": "correct", "rephrases": "correct", "misses": "unsupported"}
    verdicts = [caught.get(kind, "unsupported") for _ in facts for kind in FACT_ANSWERS]
    verdicts[-1] = "wrong"
    fitness = evaluator_fitness("e", facts, verdicts, None)
    assert fitness.state == "unfit" and (fitness.measures[0].value.value or 1) < 0.52


def test_an_unfit_judge_is_named_with_the_measures_that_fail() -> None:
    """A measure whose interval reaches above 0.75 is no reason for an unfit verdict."""
    answers = [one for one in packaged_gold().answers if one.concept == "phoneme"]
    far = {"good": 0.9, "partly": 0.5, "rejects": 0.9}
    scores = [Score(far.get(one.kind, 0.1), 0.5, "ok", 1) for one in answers]
    fitness = judge_fitness("j", answers, scores, None)
    assert [measure.state for measure in fitness.measures].count("not shown fit") == 2
    assert fitness.state == "unfit" and len(fitness.reasons) == 1
    assert fitness.reasons[0].startswith("SAS")


def test_three_names_of_one_model_are_one_judge(tmp_path: Path) -> None:
    """Judges at one address with one model are named: their agreement is self-consistency."""
    with Loopback(examining()) as server:
        study = write_study(tmp_path, server.url, ("judge-fit", "judge-copy"))
        path = study.folder / "study.toml"
        path.write_text(path.read_text().replace('model = "judge-copy"', 'model = "judge-fit"'))
        check = live_check(Study(study.folder), concepts=("phoneme",))
    assert check.one_model == [["judge-copy", "judge-fit"]]
    assert "are one model: their agreement is self-consistency" in check.words
    assert of(check, "judge-copy").measures == of(check, "judge-fit").measures
