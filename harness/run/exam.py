"""The gold set of a study: where it comes from, who takes it, and what it makes of the jury."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.fitness.gold import about, packaged_gold, read_gold
from harness.protocols.registry import protocol_of
from harness.results import Gold, GoldKey, JuryCheck, Materials
from harness.study.folder import Study
from harness.study.one_model import one_model

if TYPE_CHECKING:
    from harness.run.replay import CellReplay


def gold_set(path: Path | None = None, concepts: Sequence[str] = ()) -> Gold:
    """Return the gold set of a file (default: the package's), about some concepts (default: all).

    Raises UsageError where the file is wrong or has no answer about one of the concepts.
    """
    gold = packaged_gold() if path is None else read_gold(path)
    return about(gold, concepts) if concepts else gold


def with_own_gold(study: Study, materials: Materials) -> Materials:
    """Return materials with the gold set that the study's file makes part of its recording."""
    chosen = study.file.jury_check
    if not chosen:
        return materials
    path = study.folder / study.file.gold_file if study.file.gold_file else None
    gold = gold_set(path, chosen if isinstance(chosen, list) else ())
    return with_gold(study, materials, gold)


def with_gold(study: Study, materials: Materials, gold: Gold) -> Materials:
    """Return materials with a gold set, and with the reference texts that it needs."""
    return protocol_of(study).with_gold(study, materials, gold)


def jury_check(study: Study, materials: Materials, replays: Iterable[CellReplay]) -> JuryCheck:
    """Return what replayed cells show of the jury: its habits, and its gold set if recorded."""
    sound = [replay for replay in replays if replay.result and replay.transcript]
    exams = [replay.result for replay in sound if isinstance(replay.cell, GoldKey)]
    grid = [replay for replay in sound if not isinstance(replay.cell, GoldKey)]
    return checked(
        study,
        materials,
        exams[0] if exams else None,
        [replay.result for replay in grid],
        [replay.transcript for replay in grid],
    )


def checked(
    study: Study,
    materials: Materials,
    exam: object,
    cells: Sequence[Any] = (),
    transcripts: Sequence[object] = (),
) -> JuryCheck:
    """Return the fitness of each judge, by an exam (None: not taken) and by a recording's cells."""
    judges = protocol_of(study).fitness(study, materials, exam, cells, transcripts)
    held = [*cells, *([exam] if exam else [])]
    same = [group.judges for group in one_model(study, held)]
    return JuryCheck(sorted(judges, key=lambda fitness: fitness.judge), same)
