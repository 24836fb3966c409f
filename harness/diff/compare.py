"""Compare two recordings: settings, models, texts, words, scores and metrics, cell by cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.diff.metric_changes import metric_changes, paired_scores
from harness.diff.schema import CellWords, Diff, KindOfWords, ModelPair
from harness.diff.study_files import first_difference, settings, texts
from harness.errors import UsageError
from harness.protocols.registry import protocol_of
from harness.recording.cassette import content, masked, read_once
from harness.results import Materials
from harness.run.checked import check_files, checked_cells
from harness.run.replay import CellReplay
from harness.run.wiring import frozen
from harness.study.folder import Cell, Study

Words = Mapping[str, str]
_place = re.compile(r"(?:turn|depth|question|deal)-\d+")


class Side(NamedTuple):
    """One of two recordings, over the cells that both have: replayed, and scored by its rules."""

    study: Study
    materials: Materials
    replays: Sequence[CellReplay]
    found: object
    verification: str


@read_once()
def compare(
    before: Study, after: Study, names: tuple[str, str] | None = None, *, verify: bool = True
) -> Diff:
    """Compare two recordings over the cells that both have recorded.

    names: what to call them (default: their studies' names). verify: check the files and numbers of
    both first. Raises UsageError where they have no cell in common or where bodies are left out of
    one, CheckFailed where one is not what was published or does not replay.
    """
    for study in (before, after):
        check_files(study, verify=verify)  # a changed grid is a changed file, whatever it has
    cells = _common(before, after)
    old, new = (_side(study, cells, verify) for study in (before, after))
    spoken = protocol_of(before)
    words = [[spoken.words(replay.transcript) for replay in side.replays] for side in (old, new)]
    pairs = list(zip(*words, strict=True))
    return Diff(
        before=names[0] if names else before.name,
        after=names[1] if names else after.name,
        verification=[old.verification, new.verification],
        protocol=before.file.protocol,
        cells=len(cells),
        only_before=_rest(before, cells),
        only_after=_rest(after, cells),
        configuration=settings(before, after),
        materials=texts(old.materials, new.materials),
        models=_models(old, new),
        kinds=_kinds(pairs),
        words=[_words(before, after, cell, *pair) for cell, pair in zip(cells, pairs, strict=True)],
        scores=paired_scores(spoken.cell_scores(old.found), spoken.cell_scores(new.found), before),
        metrics=metric_changes(before, old.found, after, new.found),
        swaps=spoken.attributions(old.found, new.found),
    )


def _common(before: Study, after: Study) -> list[Cell]:
    if before.file.protocol != after.file.protocol:
        raise UsageError(
            f"{before.name} is of the protocol {before.file.protocol}, {after.name} of "
            f"{after.file.protocol}: two recordings of one protocol can be compared."
        )
    recorded = set(_recorded(after))
    cells = [cell for cell in _recorded(before) if cell in recorded]
    if not cells:
        raise UsageError(
            f"{before.name} and {after.name} have no recorded cell in common. The first has "
            f"{_counted(before)}; the second has {_counted(after)}. A cell is compared with the "
            "one of the same name."
        )
    return cells


def _recorded(study: Study) -> list[Cell]:
    return [cell for cell in study.file.plan.cells() if study.cassette(cell).exists()]


def _counted(study: Study) -> str:
    """Say how many cells a study has recorded, and how they are named."""
    cells = [cell.name for cell in _recorded(study)]
    return f"{len(cells)}" + (f", such as {cells[0]}" if cells else "")


def _rest(study: Study, cells: Sequence[Cell]) -> list[str]:
    return [cell.name for cell in study.file.plan.cells() if cell not in cells]


def _side(study: Study, cells: Sequence[Cell], verify: bool) -> Side:
    checked = checked_cells(study, cells, verify=verify)
    materials = frozen(study).materials
    cell_results = [replay.result for replay in checked.replays]
    results = protocol_of(study).partly_scored(study, materials, cell_results)
    return Side(study, materials, checked.replays, results, checked.verification)


def _models(old: Side, new: Side) -> list[ModelPair]:
    names = dict.fromkeys([*old.study.file.models, *new.study.file.models])
    served = (_served(old), _served(new))
    return [
        ModelPair(name, _asked(old.study, name), _asked(new.study, name), *_of(served, name))
        for name in names
    ]


def _asked(study: Study, name: str) -> str | None:
    model = study.file.models.get(name)
    return model.model if model else None


def _served(side: Side) -> dict[str, set[str]]:
    served: dict[str, set[str]] = {}
    for replay in side.replays:
        for name, models in replay.result.served.items():
            served.setdefault(name, set()).update(models)
    return served


def _of(served: tuple[dict[str, set[str]], dict[str, set[str]]], name: str) -> list[list[str]]:
    return [sorted(models.get(name, ())) for models in served]


def _words(
    before: Study, after: Study, cell: Cell, old_words: Words, new_words: Words
) -> CellWords:
    files = [content(study.cassette(cell)) for study in (before, after)]
    both = [call for call in old_words if call in new_words]
    differ = [call for call in both if old_words[call] != new_words[call]]
    first = differ[0] if differ else None
    return CellWords(
        cell.name,
        masked(files[0]) == masked(files[1]),
        len(both),
        len(both) - len(differ),
        len(old_words.keys() ^ new_words.keys()),
        first,
        *(first_difference(old_words[first], new_words[first]) if first else (None, None)),
    )


def _kinds(pairs: Sequence[tuple[Words, ...]]) -> list[KindOfWords]:
    """Count what is the same by who said it, whatever the turn or the depth."""
    compared: Counter[str] = Counter()
    equal: Counter[str] = Counter()
    for old_words, new_words in pairs:
        for call in old_words.keys() & new_words.keys():
            kind = "/".join(segment for segment in call.split("/") if not _place.fullmatch(segment))
            compared[kind] += 1
            equal[kind] += old_words[call] == new_words[call]
    return [KindOfWords(kind, compared[kind], equal[kind]) for kind in sorted(compared)]
