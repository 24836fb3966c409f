"""A small part of a study as a study of its own: whole levels, concepts, domains or repeats.

What stays is still a product, so that it replays alone by the same rules; every subject or target
stays. How much of each axis stays is what comes nearest to the share that is asked for; which part,
the study's seed decides, but for levels (the outermost and those evenly between) and repeats (the
first).
"""

from __future__ import annotations

import itertools
import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from harness import results as results_file
from harness.bundle.toml_text import to_toml
from harness.errors import UsageError
from harness.files import write_atomic
from harness.protocols.registry import protocol_of
from harness.protocols.seam import Axis
from harness.recording.checksums import write_manifests
from harness.run.replay import replayed_results
from harness.stats.seeds import seeded
from harness.study.folder import STUDIES, Study

Item = TypeVar("Item")


def sampled(study: Study, share: float, root: Path) -> Study:
    """Write the sample of a recorded study below `root`, its results and manifests computed anew.

    Raises UsageError where the smallest sample is the whole study, CheckFailed where a cell of it
    does not replay.
    """
    axes = protocol_of(study).axes(study)
    if not axes:
        raise UsageError(
            f"{study.name} is a study of the protocol {study.file.protocol!r}, whose grid has no "
            "axis that can be cut. Pack it without --sample."
        )
    sizes = _sizes(axes, share)
    cut = {axis.name: _part(study, axis, size) for axis, size in sizes}
    if all(size == len(axis.items) for axis, size in sizes):
        raise UsageError(
            f"{study.name}: a sample of {share:g} is the whole study, whose grid is "
            f"{' x '.join(f'{len(axis.items)} {axis.name}' for axis, _ in sizes)} for each model. "
            "Pack it without --sample."
        )
    folder = root / STUDIES / f"{study.name}-sample"
    folder.mkdir(parents=True)
    write_atomic(folder / "study.toml", _study_text(study, cut).encode())
    write_atomic(folder / "materials.json", study.materials.read_bytes())
    sample = Study(folder)
    for cell in sample.cells():
        shutil.copyfile(study.cassette(cell), sample.cassette(cell))
    results = replayed_results(sample)
    write_atomic(sample.results, results_file.canonical(results))
    write_manifests(root, folder)
    return sample


def _sizes(axes: Sequence[Axis], share: float) -> list[tuple[Axis, int]]:
    """Return how much of each axis stays: nearest the share; of equals, more of the first axes."""
    cells = math.prod(len(axis.items) for axis in axes)
    choices = itertools.product(*(range(len(axis.items), 0, -1) for axis in axes))
    best = min(choices, key=lambda sizes: round(abs(math.prod(sizes) - share * cells), 9))
    return list(zip(axes, best, strict=True))


def _part(study: Study, axis: Axis, size: int) -> object:
    """Return what stays of an axis, in the study's order, or how many."""
    if axis.is_counted:
        return size
    if axis.is_scale:
        return _spread(sorted(axis.items), size)
    generator = seeded(study.file.seed, f"sample|{axis.name}")
    chosen = sorted(generator.permutation(len(axis.items))[:size].tolist())
    return [axis.items[place] for place in chosen]


def _spread(items: Sequence[Item], size: int) -> list[Item]:
    """Return `size` items from the first to the last, as evenly as may be."""
    last = len(items) - 1
    return [items[round(place * last / max(1, size - 1))] for place in range(size)]


def _study_text(study: Study, cut: dict[str, Any]) -> str:
    """Return the study file with less in its grid, and what is the default left out."""
    content = study.file.model_dump(exclude_defaults=True)
    content["title"] = f"{study.file.title} (a sample)"
    content[study.file.protocol] = study.file.plan.cut_to(cut)
    return to_toml(content)
