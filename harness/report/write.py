"""A page about studies: each is replayed with its checksums, and shown with its words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import CheckFailed, UsageError
from harness.files import make_folder, write_atomic
from harness.page.replayed_study import (
    AnyStudy,
    CalledModel,
    PageVerdict,
    RecordedCall,
    RecordedCell,
    ReplayedStudy,
)
from harness.protocols.findings import findings_of
from harness.protocols.registry import protocol_of
from harness.protocols.tables import tables_of
from harness.recording import cassette as cassettes
from harness.report import page
from harness.results import GoldKey
from harness.run.checked import check_files
from harness.run.comparison import DIFFERENT
from harness.run.replay import results_of, sound_replays
from harness.run.verdict import NOT_PROVEN, Replayed, Verdict, replayed
from harness.run.wiring import frozen
from harness.study.folder import Cell, Study


class WrittenReport(NamedTuple):
    """The files that were written, and what each study's replay came to."""

    files: list[Path]
    verdicts: list[Verdict]


@cassettes.read_once()
def write_report(
    studies: Sequence[Study], out: Path, pictures: Path | None = None, *, verify: bool = True
) -> WrittenReport:
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
    replays = [replayed(study, None if verify else False) for study in studies]
    if verify:
        for replay in replays:
            _require_published(replay.verdict)
    articles = [_article(study, replay) for study, replay in zip(studies, replays, strict=True)]
    files = {out: page.page(articles)}
    if pictures is not None:
        drawn = [picture for article in articles for picture in page.pictures(article).items()]
        files |= {pictures / name: png for name, png in drawn}
    for path, content in files.items():
        write_atomic(path, content)
    return WrittenReport(list(files), [replay.verdict for replay in replays])


def _article(study: Study, replay: Replayed) -> page.Article:
    page_study = replayed_study(study, replay)
    results = page_study.results
    findings = findings_of(study, results)
    of_protocol = protocol_of(study).page(study, page_study)
    return page.article(page_study, of_protocol, tables_of(study, results), findings)


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


def replayed_study(study: Study, replay: Replayed) -> AnyStudy:
    """Return all that a page shows of a study's finished cells."""
    finished = [cell for cell in study.cells() if study.cassette(cell).exists()]
    replays, results = replay.replays, replay.found
    if results is None:  # files that are not the manifest's, or cells that are not recorded yet
        replays = sound_replays(study, finished)
        results = results_of(study, replays)
    return ReplayedStudy(
        name=study.name,
        title=study.file.title,
        about=study.file.about,
        as_of=study.file.as_of.isoformat(),
        seed=study.file.seed,
        frozen_by=frozen(study).materials.harness_version,
        verdict=_verdict(replay.verdict),
        models=_models(study),
        cells=[cell.name for cell in study.cells()],
        recorded={cell.name: _recorded(study, cell) for cell in finished},
        results=results,
        transcripts=[
            cell_replay.transcript
            for cell_replay in replays
            if not isinstance(cell_replay.cell, GoldKey)
        ],
    )


def _verdict(verdict: Verdict) -> PageVerdict:
    first = f" (first at {verdict.first_difference})" if verdict.first_difference else ""
    checks = (
        ("checksums", verdict.checksums),
        ("cells", f"{verdict.cells}/{verdict.planned}"),
        ("calls matched", f"{verdict.matched}/{verdict.calls}"),
        ("unused", str(verdict.unused)),
        ("network attempts", str(verdict.network_attempts)),
        ("numbers", f"{verdict.numbers}{first}"),
        ("words", verdict.words),
    )
    state = "OK" if verdict.ok else "INCOMPLETE" if verdict.incomplete else "FAILED"
    return PageVerdict(state, checks, verdict.fingerprint, verdict.problems, NOT_PROVEN)


def _recorded(study: Study, cell: Cell) -> RecordedCell:
    """Return a cell's calls with their lines: a cassette's first line is its frame."""
    path = study.cassette(cell)
    calls = [
        RecordedCall(
            label,
            line,
            interaction.response.recorded_at,
            1 + len(interaction.response.attempts),
        )
        for line, (label, interaction) in enumerate(cassettes.load(path).labelled(), 2)
    ]
    return RecordedCell(path.relative_to(study.root).as_posix(), calls)


def _models(study: Study) -> list[CalledModel]:
    roles = study.file.plan.roles
    models = [
        CalledModel(
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
        CalledModel(name, ["source"], source.kind, source.base_url, "", "")
        for name, source in study.file.sources.items()
    ]
    return [*models, *sources]
