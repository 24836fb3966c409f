"""Write the papers of a bundle: what is known of the study, put into them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness import results as results_file
from harness.bundle import papers
from harness.bundle.archive import files_in
from harness.bundle.requirements import pinned, pins_all
from harness.files import write_atomic
from harness.recording import cassette as cassettes
from harness.run.verdict import Verdict
from harness.run.whole import LeftOut
from harness.study.folder import Study
from harness.version import VERSION

LOCK, REQUIREMENTS, CITATION, REPORT = (
    "requirements.lock",
    "requirements.txt",
    "CITATION.cff",
    "report.html",
)


def write_licences(staged: Study, listed: str, left_out: LeftOut) -> None:
    """Write LICENCES.md: the licences that were listed, and the models that were left out."""
    text = f"{listed}{papers.terms_of_dropped(left_out.models, left_out.same_words)}"
    write_atomic(staged.root / "LICENCES.md", text.encode())


def write_papers(study: Study, staged: Study, left_out: LeftOut, verdict: Verdict) -> None:
    """Write everything else that goes with a staged study; the report needs all of its bodies.

    Versions are those of the repository's requirements.lock where it pins what harness needs, or
    else those that run here; the citation is the repository's own, where it has one.
    """
    root = staged.root
    lock = _write_lock(study.root, root)
    if not left_out.bodies:
        _write_report(staged)
    facts = _facts(study, staged, left_out, verdict)._replace(lock=lock)
    write_atomic(root / "README.md", papers.readme(facts).encode())
    write_atomic(root / "APPENDIX.md", papers.appendix(facts).encode())
    own_citation = study.root / CITATION
    cited = own_citation.read_bytes() if own_citation.is_file() else papers.citation(facts).encode()
    write_atomic(root / CITATION, cited)


def _write_lock(source: Path, root: Path) -> str:
    own_lock = source / LOCK
    if own_lock.is_file() and pins_all(own_lock.read_text("utf-8", "replace")):
        shutil.copyfile(own_lock, root / LOCK)
        return LOCK
    write_atomic(root / REQUIREMENTS, pinned().encode())
    return REQUIREMENTS


def _write_report(staged: Study) -> None:
    from harness.report.write import write_report  # loads what draws, and only a bundle needs it

    write_report([staged], staged.root / REPORT)


class Recorded(NamedTuple):
    """When the calls of a recording were made, and how long they took in all."""

    calls: int
    first: str
    last: str
    waited: float


def _recorded(study: Study) -> Recorded:
    responses = [
        interaction.response
        for cell in study.cells()
        for interaction in cassettes.load(study.cassette(cell))
    ]
    times = sorted(response.recorded_at for response in responses)
    waited = sum(response.elapsed for response in responses)
    return Recorded(len(responses), times[0], times[-1], waited)


def _facts(study: Study, staged: Study, left_out: LeftOut, verdict: Verdict) -> papers.BundleFacts:
    recorded = _recorded(staged)
    is_sample = staged.name != study.name
    return papers.BundleFacts(
        study=staged.name,
        title=staged.file.title,
        protocol=staged.file.protocol,
        as_of=staged.file.as_of.isoformat(),
        version=VERSION,
        fingerprint=verdict.fingerprint,
        verdict=_without_seconds(verdict),
        lock=REQUIREMENTS,
        cells=len(staged.cells()),
        calls=recorded.calls,
        replayed_cells=verdict.cells,
        replayed_calls=verdict.matched,
        numbers_compared=verdict.numbers != "not compared",
        size=sum((staged.root / name).stat().st_size for name in files_in(staged.root)),
        cost=_cost(staged),
        first=recorded.first,
        last=recorded.last,
        waited=recorded.waited,
        sample_of=(study.name, len(staged.cells()) / len(study.cells())) if is_sample else None,
        left_out=sorted(left_out.cells.items()),
        dropped=left_out.models,
        same_models=left_out.same_words,
        published=left_out.fingerprint,
        report=not left_out.bodies,
    )


def _without_seconds(verdict: Verdict) -> str:
    """Return the verdict's line, which must not change with the machine that packs."""
    return msgspec.structs.replace(verdict, seconds=0.0).line.replace(", 0.0 s.", ", N s.")


def _cost(study: Study) -> str:
    spending = results_file.read_results(study.results)["spending"]
    if spending["total"]["value"] is None:
        return f"not known ({spending['total']['reason']})"
    return f"{spending['total']['value']:.4f} {spending['currency']}"
