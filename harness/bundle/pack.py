"""Make a bundle of a study: everything a reviewer needs, checked before it is handed out."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.bundle.archive import SUFFIX, files_in, packed, seal, sum_of
from harness.bundle.key_search import find_keys
from harness.bundle.licences import licences as licences_of
from harness.bundle.redact import leave_out
from harness.bundle.replay import replay
from harness.bundle.sample import sampled
from harness.bundle.write_papers import write_licences, write_papers
from harness.errors import CheckFailed, UsageError
from harness.files import write_atomic
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.recording.redaction import KeyRing
from harness.run.checked import false_digests
from harness.run.verdict import Verdict
from harness.run.whole import LeftOut
from harness.run.wiring import endpoints
from harness.study.folder import STUDIES, Study

INVALID = "study invalid"
MOST_SHOWN = 10


class Wishes(NamedTuple):
    """What a bundle is to be.

    sample: the share of the cells, None for all. drop_bodies: leave out passages that are not
    open. drop_models: and the answers of these, though not what other models say of them.
    key_variables: more environment variables whose
    values must not be inside. no_keys: texts that look like keys and are none.
    """

    sample: float | None = None
    drop_bodies: bool = False
    drop_models: Sequence[str] = ()
    key_variables: Sequence[str] = ()
    no_keys: Sequence[str] = ()


WHOLE = Wishes()


class Packed(NamedTuple):
    """What was packed: the study in it, files, bytes, checksum, what is left out, the verdict."""

    study: str
    files: int
    size: int
    sha256: str
    left_out: LeftOut
    verdict: Verdict


@cassettes.read_once()
def pack(study: Study, out: Path, wishes: Wishes = WHOLE) -> Packed:
    """Write a study's bundle; the same bytes from the same study.

    Raises UsageError where the study is not recorded to its end or the arguments do not fit,
    CheckFailed where it does not replay, or where a key or what looks like one is inside. Nothing
    is written then.
    """
    if not out.name.endswith(SUFFIX):
        raise UsageError(f"{out}: a bundle's name ends in {SUFFIX}, by which `replay` knows it.")
    verdict = _sound(study)
    with tempfile.TemporaryDirectory(prefix="harness-pack-") as folder:
        staged = _staged(study, Path(folder), wishes)
        licences = licences_of(staged)  # while every passage is still there
        left_out = _left_out(staged, verdict.fingerprint, wishes)
        write_licences(staged, licences, left_out)
        if left_out.bodies or wishes.sample is not None:
            verdict = replay(staged, verify_checksums=True)
        write_papers(study, staged, left_out, verdict)
        _refuse_keys(study, staged, wishes)
        seal(staged.root)
        data, names = packed(staged.root, staged.name), files_in(staged.root)
    write_atomic(out, data)
    return Packed(staged.name, len(names), len(data), sum_of(out), left_out, verdict)


def _sound(study: Study) -> Verdict:
    """Replay a study; an invalid one may be packed, as its verdict says so again."""
    verdict = replay(study, verify_checksums=True)
    wrong = [problem for problem in verdict.problems if not problem.startswith(INVALID)]
    if wrong:
        raise CheckFailed(
            f"{study.name}: not packed, since it does not replay:\n{wrong[0]}\n"
            f"`harness replay {study.name} --verify-checksums` says all of it."
        )
    if false := false_digests(study):
        raise CheckFailed(
            f"{false[0]}: the digest beside the request is not that request's; one of them was "
            "changed after the recording. Nothing was packed. Restore the file."
        )
    return verdict


def _staged(study: Study, root: Path, wishes: Wishes) -> Study:
    """Write a sample, or copy what the manifests cover and the manifests, below `root`."""
    if wishes.sample is not None:
        return sampled(study, wishes.sample, root)
    manifests = [checksums.manifest_path(study.root, study.name, kind) for kind in checksums.KINDS]
    for path in [*checksums.covered_files(study.folder), *manifests]:
        to = root / path.relative_to(study.root)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
    return Study(root / STUDIES / study.name)


def _left_out(staged: Study, fingerprint: str, wishes: Wishes) -> LeftOut:
    left_out = leave_out(
        staged, fingerprint, closed_passages=wishes.drop_bodies, models=wishes.drop_models
    )
    if left_out.bodies:
        checksums.write_manifests(staged.root, staged.folder)
    return left_out


def _refuse_keys(study: Study, staged: Study, wishes: Wishes) -> None:
    """Raise CheckFailed where a key in use, or what looks like a key, is in a file."""
    named = [entry.api_key_env for entry in endpoints(study).values() if entry.api_key_env]
    ring = KeyRing(os.environ.get(name, "") for name in [*named, *wishes.key_variables])
    folder = staged.folder.relative_to(staged.root)
    names = {(folder / staged.cassette(cell).name).as_posix() for cell in staged.cells()}
    findings = sorted(set(find_keys(staged.root, ring, names, wishes.no_keys)))
    if findings:
        listed = "\n".join(finding.line for finding in findings[:MOST_SHOWN])
        raise CheckFailed(
            f"{study.name}: not packed: {len(findings)} places hold a key, or what looks like "
            f"one:\n{listed}\nRevoke a key that got out, and record those cells anew with "
            "`harness record --restart`. What only looks like a key is let in with --no-key TEXT."
        )
