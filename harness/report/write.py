"""A page about studies: each is replayed with its checksums, and handed over with its words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import CheckFailed, UsageError
from harness.files import make_folder, write_atomic
from harness.protocols.registry import protocol_of
from harness.recording import cassette as cassettes
from harness.report import page
from harness.report.form import Call, Cassette, Checked, ModelAsked, Studied
from harness.run.checked import check_files
from harness.run.comparison import DIFFERENT
from harness.run.replay import results_of, sound_replays
from harness.run.verdict import NOT_PROVEN, Replayed, Verdict, replayed
from harness.run.wiring import frozen
from harness.study.folder import Cell, Study


class Outcome(NamedTuple):
    """What was written, and what each study's replay came to."""

    files: list[Path]
    verdicts: list[Verdict]


def write_report(
    studies: Sequence[Study], out: Path, pictures: Path | None = None, *, verify: bool = True
) -> Outcome:
    """Replay studies and write their page, and their figures as PNG into a folder.

    A study that is still being recorded is shown as far as it is. verify: compare files with the
    manifest and numbers with results.json. Raises CheckFailed where something differs or a cell
    does not replay; UsageError where two have one name, or one is a bundle's with something left
    out.
    """
    _require_distinct(studies)
    for study in studies:
        check_files(study, verify=verify)
    if pictures is not None:
        make_folder(pictures)
    checked = [replayed(study, None if verify else False) for study in studies]
    if verify:
        for one in checked:
            _require_published(one.verdict)
    articles = [
        page.article(studied(study, one)) for study, one in zip(studies, checked, strict=True)
    ]
    files = {out: page.page(articles)}
    if pictures is not None:
        drawn = [each for article in articles for each in page.pictures(article).items()]
        files |= {pictures / name: data for name, data in drawn}
    for path, data in files.items():
        write_atomic(path, data)
    return Outcome(list(files), [one.verdict for one in checked])


def _require_published(verdict: Verdict) -> None:
    """Raise CheckFailed where numbers or words are not those of results.json."""
    if DIFFERENT in (verdict.numbers, verdict.words):
        raise CheckFailed(
            f"{verdict.study}: is not what was published: {verdict.problems[0]}. "
            "--no-verify-checksums makes a page of it all the same, unverified."
        )


def _require_distinct(studies: Sequence[Study]) -> None:
    names = [study.name for study in studies]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"two studies are called {twice[0]!r}; a page tells them by their names.")


def studied(study: Study, checked: Replayed) -> Studied:
    """Hand over all that a page shows of a study's finished cells."""
    protocol = protocol_of(study)
    finished = [cell for cell in study.cells() if study.cassette(cell).exists()]
    replays, found = checked.replays, checked.found
    if found is None:  # files that are not the manifest's, or cells that are not recorded yet
        replays = sound_replays(study, finished)
        found = results_of(study, replays)
    return Studied(
        name=study.name,
        title=study.file.title,
        about=study.file.about,
        as_of=study.file.as_of.isoformat(),
        seed=study.file.seed,
        frozen_by=frozen(study).materials.harness_version,
        checked=_checked(checked.verdict),
        models=_asked(study),
        cells=[cell.name for cell in study.cells()],
        cassettes={cell.name: _cassette(study, cell) for cell in finished},
        found=found,
        transcripts=[one.transcript for one in replays],
        bounds=protocol.bounds(study, found).bounds,
        bands=protocol.bands(study, found),
    )


def _checked(verdict: Verdict) -> Checked:
    first = f" (first at {verdict.first_difference})" if verdict.first_difference else ""
    parts = (
        ("checksums", verdict.checksums),
        ("cells", f"{verdict.cells}/{verdict.planned}"),
        ("calls matched", f"{verdict.matched}/{verdict.calls}"),
        ("unused", str(verdict.unused)),
        ("network attempts", str(verdict.network_attempts)),
        ("numbers", f"{verdict.numbers}{first}"),
        ("words", verdict.words),
    )
    state = "OK" if verdict.ok else "INCOMPLETE" if verdict.incomplete else "FAILED"
    return Checked(state, parts, verdict.fingerprint, verdict.problems, NOT_PROVEN)


def _cassette(study: Study, cell: Cell) -> Cassette:
    """Name a cell's calls with their lines: a cassette's first line is its frame."""
    path = study.cassette(cell)
    calls = [
        Call(label, line, kept.response.recorded_at, 1 + len(kept.response.attempts))
        for line, (label, kept) in enumerate(cassettes.load(path).labelled(), 2)
    ]
    return Cassette(path.relative_to(study.root).as_posix(), calls)


def _asked(study: Study) -> list[ModelAsked]:
    roles = study.file.plan.roles
    models = [
        ModelAsked(
            name,
            [role for role, names in roles.items() if name in names],
            model.provider,
            model.base_url,
            model.model,
            model.family,
        )
        for name, model in study.file.models.items()
    ]
    sources = [
        ModelAsked(name, ["source"], source.kind, source.base_url, "", "")
        for name, source in study.file.sources.items()
    ]
    return [*models, *sources]
