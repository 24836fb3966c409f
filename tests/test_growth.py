"""Results may grow: what a later release computes besides never breaks what was published."""

from typing import Any

import pytest

from harness.results import compared
from harness.results.growth import newer_fields, pattern

ADDED = {2: frozenset({"cells[].turns[].missing"}), 3: frozenset({"subjects[].trap_rate"})}
RECORDED: dict[str, Any] = {"subject": "a", "far": 0.5, "levels": [{"level": 0.0, "sas": 1}]}


def test_more_values_than_recorded_are_counted_where_the_results_are_older() -> None:
    """A field that older results lack is no difference; its values are counted."""
    now = {**RECORDED, "notices": ["short"], "answers": {"empty": 1, "filtered": 2}}
    comparison = compared(RECORDED, now, newer=newer_fields({}, ADDED))
    assert comparison.first is None
    assert comparison.more == 3


def test_a_field_that_older_results_had_is_not_taken_for_a_newer_one() -> None:
    """What was taken out of older results is a difference, in an entry of a list too."""
    before = {"cells": [{"cell": "x", "turns": 5, "replies": 1}]}
    for gone in ({"cell": "x", "replies": 1}, {"cell": "x", "turns": 5}):
        comparison = compared({"cells": [gone]}, before, newer=newer_fields({}, ADDED))
        assert (comparison.first is None) == ("turns" in gone)


def test_more_values_are_a_difference_where_the_results_are_of_this_form() -> None:
    """Of results of the present form a value that was not recorded is a deletion."""
    comparison = compared(RECORDED, {**RECORDED, "trap_rate": 0.2})
    assert comparison.first is not None
    assert comparison.first.where == "trap_rate"
    assert not comparison.first.close


@pytest.mark.parametrize(
    "now",
    [
        {"subject": "a", "levels": [{"level": 0.0, "sas": 1}]},
        {**RECORDED, "far": 0.6},
        {**RECORDED, "levels": []},
        {**RECORDED, "levels": [*RECORDED["levels"], {"level": 1.0, "sas": 1}]},
    ],
)
def test_what_was_recorded_must_be_there_and_the_same(now: dict[str, Any]) -> None:
    """A recorded value that is gone or different, or a longer list, fails in every form."""
    comparison = compared(RECORDED, now, newer=newer_fields({}, ADDED))
    assert comparison.first is not None
    assert not comparison.first.close


def test_a_text_that_says_absent_is_not_absence() -> None:
    """No text in a results file is taken for a value that is not there."""
    comparison = compared({"extra": "(absent)"}, {}, newer=newer_fields({}, ADDED))
    assert comparison.first is not None
    assert "'(absent)'" in comparison.first.words


@pytest.mark.parametrize(
    ("version", "grown"), [({}, True), (1, True), (2, False), (3, False), ("1", False), (0, False)]
)
def test_the_version_of_the_form_decides(version: object, grown: bool) -> None:
    """Results without a version, or of an older one, may lack fields; of a strange one may not."""
    results = {} if version == {} else {"results_version": version}
    assert ("answers" in newer_fields(results, {})) is grown


def test_results_cannot_say_they_are_older_than_their_cassettes() -> None:
    """Where the cassettes are of a later form, results that name none may lack nothing."""
    assert newer_fields({}, ADDED, oldest=2) == frozenset()
    assert newer_fields({"results_version": 2}, ADDED, oldest=2) == ADDED[3]


def test_a_protocols_fields_go_by_its_own_version() -> None:
    """Its metrics have a version, so that another package can add one between two releases."""
    recorded = {"results_version": 2, "metrics_version": 3}
    assert newer_fields(recorded, ADDED) == frozenset()
    assert newer_fields({**recorded, "metrics_version": 2}, ADDED) == ADDED[3]
    assert newer_fields({**recorded, "metrics_version": 0}, ADDED) == frozenset()
    assert newer_fields({**recorded, "metrics_version": "2"}, ADDED) == frozenset()


def test_a_protocol_names_what_its_results_grew_by() -> None:
    """A field of a protocol's list may be absent from results of an older form than it names."""
    assert "cells[].turns[].missing" in newer_fields({"results_version": 1}, ADDED)
    assert "cells[].turns[].missing" not in newer_fields({"results_version": 2}, ADDED)
    assert pattern("subjects[a].trap_rate") == "subjects[].trap_rate"


def test_an_entry_with_a_damaged_key_is_named_by_its_number() -> None:
    """A difference inside an entry whose cell cannot be read is named all the same."""
    old, new = [{"cell": {"subject": 3}, "far": 1}], [{"cell": {"subject": 3}, "far": 2}]
    comparison = compared(old, new)
    assert comparison.first is not None
    assert comparison.first.where == "[0].far"
