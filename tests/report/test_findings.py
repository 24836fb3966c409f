"""Sentences about a study are said of studies whose numbers say so, and of no others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import synthetic
from depthcharge import finished_runs
from depthcharge.finished_runs import RULES, counted, run_of, scored
from depthcharge.simulated_runs import independent
from msgspec.structs import replace

from harness.protocols.ddft.analysis.findings import findings as of_dialogues
from harness.protocols.ddft.analysis.schema_inference import CISide
from harness.protocols.ddft.analysis.schema_jury import SelfConsistency
from harness.protocols.ddft.metrics.scoring import score_study
from harness.protocols.depthcharge.analysis.findings import findings as of_runs
from harness.protocols.findings import missing_sentence
from harness.results import DrillResults, Interval, Missing, Results, RunKey, Share, Value
from harness.results.digits import conjoined, named_values

NOTHING = Value(None, 5, "no level passes")
Change = Callable[[Any], None]


def dialogues(subjects: int = 3, **changes: Any) -> Results:
    """Return the results of a made-up study; changes: fields of every subject."""
    study = synthetic.study(subjects=subjects, concepts=2)
    results = score_study("made", 1, study.cells, study.planned, study.rules)
    results.analysis = study.analysis()
    results.subjects = [replace(subject, **changes) for subject in results.subjects]
    return results


def said(results: Results, words: str) -> list[str]:
    """Return the sentences about a study that have some words in them."""
    return [sentence for sentence in of_dialogues(results) if words in sentence]


def test_an_invalid_study_has_one_finding() -> None:
    """That nothing can be said, and why; of a drill as of dialogues."""
    reason = "9 of 10 judgements are missing\nand more"
    results = replace(dialogues(), valid=False, invalid_reason=reason)
    [sentence] = of_dialogues(results)
    assert sentence.endswith("the study is invalid (9 of 10 judgements are missing).")
    drilled = replace(drill({"a": [3]}), valid=False, invalid_reason="too few")
    assert of_runs(drilled) == [
        "Nothing can be said of the targets: the study is invalid (too few)."
    ]


def test_who_passes_theta_is_counted() -> None:
    """No subject, or so many of all; a subject without its whole grid is named and not counted."""
    results = dialogues(3)
    assert len(said(results, "3 of 3 subjects reach a mean FAR (factual accuracy) of 0.7")) == 1
    assert said(results, "No subject") == []
    none = dialogues(3, hoc=NOTHING, ci_raw=NOTHING)
    assert "no subject has a rank" in said(none, "No subject reaches")[0]
    assert said(none, "Raw CI") == []
    alone_below = dialogues(1, hoc=NOTHING, ci_raw=NOTHING)
    assert len(said(alone_below, "The one subject does not reach")) == 1
    results.subjects[0] = replace(results.subjects[0], complete=False, hoc=NOTHING)
    assert "for subject-0:" in said(results, "No metric is defined")[0]
    assert len(said(results, "2 of 2 subjects")) == 1


def with_ci(*numbers: float, intervals: Sequence[Interval | None] = ()) -> Results:
    """Return results whose subjects have these raw CI, and intervals if any are given."""
    results = dialogues(len(numbers))
    for subject, number in zip(results.subjects, numbers, strict=True):
        subject.ci_raw = Value(number, 10)
    inferred = results.analysis.inference.subjects
    for subject_intervals, interval in zip(inferred, intervals, strict=False):
        if interval is not None:
            subject_intervals.sides = [CISide(1.0, interval)]
    return results


def test_the_highest_and_lowest_ci_are_named() -> None:
    """Both ends with their intervals; all who share an end; a lone one; none, with the reason."""
    [sentence] = said(with_ci(0.2, 0.9, 0.5), "Raw CI (Comprehension Integrity) is highest")
    assert "highest for subject-1 (0.900" in sentence
    assert "lowest for subject-0 (0.200" in sentence
    [shared] = said(with_ci(0.9, 0.9, 0.5), "is highest")
    assert "subject-0" in shared
    assert "subject-1" in shared
    assert "overlap" not in shared
    assert len(said(with_ci(0.5, 0.5), "have the same raw CI")) == 1
    assert len(said(with_ci(0.5), "Only subject-0")) == 1
    assert said(with_ci(0.5), "highest for") == []
    [none] = said(dialogues(2, ci_raw=Value(None, 0, "empty FAR'")), "No subject has a CI")
    assert none.endswith("empty FAR'.")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (Interval(0.1, 0.4), Interval(0.5, 0.9), "do not overlap"),
        (Interval(0.1, 0.6), Interval(0.5, 0.9), "their intervals overlap"),
        (Interval(0.1, 0.5), Interval(0.5, 0.9), "their intervals overlap"),
    ],
)
def test_whether_intervals_overlap(low: Interval, high: Interval, words: str) -> None:
    """Touching ones do; where one is undefined nothing is said of it."""
    assert len(said(with_ci(0.2, 0.8, intervals=[low, high]), words)) == 1
    undefined = Interval(None, None, reason="few")
    [sentence] = said(with_ci(0.2, 0.8, intervals=[low, undefined]), "is highest")
    assert "overlap" not in sentence
    assert "without an interval" in sentence


@pytest.mark.parametrize(
    ("falls", "words"),
    [
        ((0.1, 0.2), "mean FAR falls by 0.100 (subject-0, n=10) and 0.200 (subject-1, n=10)."),
        ((-0.1, -0.2), "mean FAR rises by 0.100 (subject-0, n=10) and 0.200 (subject-1, n=10)."),
        ((0.1, -0.2), "falls by 0.100 (subject-0, n=10) and rises by 0.200 (subject-1, n=10)."),
        ((0.0, 0.0001), "mean FAR stays the same."),
    ],
)
def test_which_way_far_goes(falls: Sequence[float], words: str) -> None:
    """Falls, rises, both, or neither to three places; nothing where it is undefined."""
    results = dialogues(2)
    for profile, fall in zip(results.analysis.profiles, falls, strict=True):
        profile.far_fall = Value(fall, 10)
    assert len(said(results, words)) == 1
    for profile in results.analysis.profiles:
        profile.far_fall = NOTHING
    assert said(results, "lowest level") == []


def test_the_trap_is_counted_in_dialogues() -> None:
    """So many of so many, with an interval; nothing where no turn 4 was judged."""
    results = dialogues(2)
    results.analysis.follow_up.informative = Value(0.25, 8)
    results.analysis.inference.informative = Interval(0.1, 0.5)
    [sentence] = said(results, "in 2 of 8 dialogues")
    assert "[0.100, 0.500]" in sentence
    results.analysis.follow_up.informative = Value(None, 0, "no session")
    assert said(results, "turn 4") == []


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        (Interval(0.1, 0.9), "tend to have a higher CI"),
        (Interval(-0.9, -0.1), "tend to have a lower CI"),
        (Interval(-0.1, 0.9), "It stays open whether"),
        (Interval(0.0, 0.9), "It stays open whether"),
        (Interval(None, None, reason="few resamples"), "without an interval (few resamples)"),
    ],
)
def test_a_correlation_is_claimed_only_where_its_interval_is_without_0(
    interval: Interval, words: str
) -> None:
    """Above 0, below it, around it, and undefined, each in its own words and no other's."""
    results = dialogues(5)
    rho = results.analysis.correlations.turn_4_apart
    rho.coefficient = Value(0.5, 5)
    for inferred in results.analysis.inference.correlations:
        inferred.interval = interval
    assert len(said(results, words)) == 1
    assert len(said(results, "tend to have")) == ("tend" in words)
    rho.coefficient = Value(None, 2, "2 subjects with both, at least 4 are needed")
    [nothing] = said(results, "Nothing can be said on whether")
    assert nothing.endswith("2 subjects with both, at least 4 are needed.")


@pytest.mark.parametrize(
    ("alphas", "words"),
    [
        ((0.9, 0.8), "agree well enough to rely on"),
        ((0.9, 0.79), "tentative conclusions only"),
        ((0.9, 0.667), "tentative conclusions only"),
        ((0.66, 0.9), "agree too little"),
        ((-0.1, 0.2), "agree too little"),
    ],
)
def test_the_judges_agreement_is_that_of_the_worse_scale(
    alphas: Sequence[float], words: str
) -> None:
    """By Krippendorff's marks, 0.8 and 0.667; of one judge, or one model, there is none."""
    results = dialogues(2)
    for scale, alpha in zip(results.analysis.jury.scales, alphas, strict=True):
        scale.agreement = dataclasses.replace(scale.agreement, alpha=Value(alpha, 50))
    assert len(said(results, words)) == 1
    jury = results.analysis.jury
    phrasings = SelfConsistency(jury.heading, "model-a", list(jury.judges), jury.scales)
    jury.self_consistency = [phrasings]
    assert said(results, words) == []
    assert len(said(results, f"{jury.heading}: Krippendorff's alpha is")) == 1
    results.protocol_version = 2  # in which a model is one judge
    assert len(said(results, words)) == 1
    for scale in results.analysis.jury.scales:
        alone = Value(None, 0, "one judge")
        scale.agreement = dataclasses.replace(scale.agreement, alpha=alone)
    assert len(said(results, "agree is undefined: one judge.")) == 1


def drill(right: dict[str, list[int]], questions: int = 10) -> DrillResults:
    """Return a drill in which each target answered so many of its questions, depth by depth."""
    runs = [
        run_of(counted(correct, questions), RunKey(target, "Law"))
        for target, correct in right.items()
    ]
    return scored(runs, RULES)


def told(results: DrillResults, words: str) -> list[str]:
    """Return the sentences about a drill that have some words in them."""
    return [sentence for sentence in of_runs(results) if words in sentence]


def test_the_largest_and_smallest_evd_are_named() -> None:
    """Both ends with runs and interval; a lower bound says so; ties and a lone target, too."""
    results = drill({"a": [9, 1], "b": [5, 1]})
    [sentence] = told(results, "the largest recorded EVD")
    largest, smallest = sentence.split("the smallest")
    assert "a (" in largest
    assert "b (" in smallest
    bounds = ["at least" in words for words in (largest, smallest)]
    assert bounds == [cell.censored > 0 for cell in results.analysis.cells]
    assert len(told(drill({"a": [1], "b": [1]}), "have the same recorded EVD")) == 1
    assert len(told(drill({"a": [1]}), "In Law, only a (")) == 1
    cell = results.analysis.cells[0]
    results.analysis.cells = [replace(cell, evd=Value(None, 0, "nothing was asked"))]
    assert told(results, "EVD (Expected Valid Depth) is undefined: nothing was asked.") != []


@pytest.mark.parametrize(
    ("intervals", "words"),
    [
        ([(-0.1, 0.5), (0.0, 0.5)], "No two targets are told apart: of 2 of 2 pairs"),
        ([(-0.1, 0.5), (0.1, 0.5)], "1 of 2 pairs of targets in a domain are told apart"),
        ([(-0.5, -0.1), (0.1, 0.5)], "2 of 2 pairs of targets in a domain are told apart"),
        ([(None, None), (None, None)], "No pair of targets can be told apart"),
        ([(None, None), (-0.1, 0.5)], "of 1 of 2 pairs"),
    ],
)
def test_targets_are_told_apart_by_intervals_without_0(
    intervals: Sequence[tuple[float | None, float | None]], words: str
) -> None:
    """How many pairs, and which; where no interval is there, that."""
    results = drill({"a": [9, 1], "b": [5, 1]})
    [difference] = results.analysis.differences
    results.analysis.differences = [
        replace(difference, two_way=Interval(low, high, reason=None if high else "few"))
        for low, high in intervals
    ]
    assert len(told(results, words)) == 1
    results.analysis.differences = []
    assert told(results, "told apart") == []


def test_the_most_frequent_error_is_named() -> None:
    """One, or all that share the place; none where every answer is right."""
    results = drill({"a": [9, 1]})
    shares = [("omission", 6), ("conflation", 3), ("fabrication", 1)]
    results.analysis.errors_by_type = errors(shares)
    assert len(told(results, "error is omission (6 of 10 wrong answers).")) == 1
    results.analysis.errors_by_type = errors([("omission", 5), ("conflation", 5)])
    assert len(told(results, "errors are omission and conflation (5 of 10")) == 1
    results.analysis.errors_by_type = errors([("omission", 0)])
    assert told(results, "most frequent") == []


def errors(counts: Sequence[tuple[str, int]]) -> list[Share]:
    total = sum(count for _, count in counts)
    return [
        Share(name, count, Value(count / total if total else None, total)) for name, count in counts
    ]


def test_whether_domains_agree_is_said_with_its_reason() -> None:
    """Tau where it is defined, the reason where it is not, nothing of a single domain."""
    worlds = {f"target-{place}": independent([0.5 + place / 10] * 15) for place in range(5)}
    of_five = finished_runs.study(worlds, repeats=1)
    assert len(told(of_five, "Kendall's tau of the targets' rankings by EVD is")) == 1
    two = {name: worlds[name] for name in ("target-0", "target-4")}
    assert len(told(finished_runs.study(two, repeats=1), "cannot be said")) == 1
    assert told(drill({"a": [9, 1], "b": [5, 1]}), "rank") == []


def test_missing_judgements_are_a_finding() -> None:
    """So many of so many; nothing where none is missing."""
    assert missing_sentence(Missing(100, 0, 0.0, 0.05, {})) == []
    [sentence] = missing_sentence(Missing(100, 3, 0.03, 0.05, {"prose": 3}))
    assert sentence.startswith("3 of 100 judgements are missing (3.0%, of which 5.0% are allowed)")


def test_names_and_values_as_a_sentence_has_them() -> None:
    """Up to four one by one, then the smallest and the largest."""
    assert [conjoined(list(names)) for names in ("a", "ab", "abc")] == [
        "a",
        "a and b",
        "a, b and c",
    ]
    values = [(name, Value(place / 10, 3)) for place, name in enumerate("dacbe")]
    assert named_values(values[:2]) == "0.000 (d, n=3) and 0.100 (a, n=3)"
    assert named_values(values) == "between 0.000 (d, n=3) and 0.400 (e, n=3)"
