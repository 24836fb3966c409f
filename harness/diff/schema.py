"""What a comparison of two recordings found, in the form that `harness diff --json` prints."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.results import Interval, Value


class Changed(msgspec.Struct):
    """A setting or text that differs; of long texts the first words that do, null if absent."""

    where: str
    before: Any
    after: Any


class ModelPair(msgspec.Struct):
    """A model as it was asked for, null where a study has none, and the names that answered."""

    name: str
    asked_before: str | None
    asked_after: str | None
    served_before: list[str]
    served_after: list[str]


class KindOfWords(msgspec.Struct):
    """How much of one kind of words (answers, questions, one judge's replies) is the same."""

    kind: str
    compared: int
    equal: int


class CellWords(msgspec.Struct):
    """A cell's words: how many were compared and equal, and the first that differ.

    same_recording: the two files are the same but for clock times. not_in_both: calls of one only.
    """

    cell: str
    same_recording: bool
    compared: int
    equal: int
    not_in_both: int
    first: str | None
    before: str | None
    after: str | None


class Paired(msgspec.Struct):
    """A score's mean over n cells in both recordings, and its mean change with its interval.

    model: one, or "all". higher, lower: how many cells changed upwards and downwards.
    """

    score: str
    model: str
    before: Value
    after: Value
    difference: Value
    interval: Interval
    higher: int
    lower: int


class MetricPair(msgspec.Struct):
    """A metric in both recordings, each by its own study's rules, and its change."""

    model: str
    place: str
    metric: str
    before: Value
    after: Value
    difference: Value
    interval: Interval


class Diff(msgspec.Struct):
    """Two recordings compared, over the cells that both have.

    before, after: the names of the two. verification: how far each was checked. swaps: which
    part of a metric changed a model's class, in the protocol's own form; [] without classes.
    """

    before: str
    after: str
    verification: list[str]
    protocol: str
    cells: int
    only_before: list[str]
    only_after: list[str]
    configuration: list[Changed]
    materials: list[Changed]
    models: list[ModelPair]
    kinds: list[KindOfWords]
    words: list[CellWords]
    scores: list[Paired]
    metrics: list[MetricPair]
    swaps: list[object]
