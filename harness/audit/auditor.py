"""Every claim of a file, with its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.audit.claims import Claim, ClaimsFile
from harness.audit.counts import arithmetic, granularity, interval, mean_of
from harness.audit.dataset import Dataset, read_dataset
from harness.audit.finding import VERDICTS, Outcome, Verdict, under
from harness.audit.lattice import attainable
from harness.audit.p_values import effect_size, p_value, partial_p
from harness.audit.recomputed import value
from harness.audit.resampled import interval_resampled
from harness.audit.spreads import dispersion_label, dispersion_pair, moment_bound
from harness.audit.statements import direction, label_rule, restated
from harness.errors import UsageError
from harness.forms import at

BUNDLED = Path(__file__).with_name("data")
ALONE: dict[str, Callable[..., Outcome]] = {
    "arithmetic": arithmetic,
    "attainable": attainable,
    "direction": direction,
    "dispersion_pair": dispersion_pair,
    "effect_size": effect_size,
    "granularity": granularity,
    "interval": interval,
    "label_rule": label_rule,
    "mean_of": mean_of,
    "moment_bound": moment_bound,
    "partial_p": partial_p,
    "restated": restated,
}
WITH_DATA: dict[str, Callable[..., Outcome]] = {
    "dispersion_label": dispersion_label,
    "interval_resampled": interval_resampled,
    "p_value": p_value,
    "value": value,
}


@dataclass(frozen=True)
class Finding:
    """A claim and what became of it."""

    claim: str
    says: str
    place: str
    check: str
    published: str
    recomputed: str
    verdict: Verdict
    why: str


@dataclass(frozen=True)
class Audit:
    """What was audited, against which data, and a finding for every claim, in the file's order."""

    title: str
    source: str
    data: str | None
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> dict[Verdict, int]:
        """Give how many claims have each verdict."""
        counted = Counter(finding.verdict for finding in self.findings)
        return {verdict: counted[verdict] for verdict in VERDICTS}


def bundled() -> dict[str, Path]:
    """Give the claims files that come with the package, by name."""
    return {path.stem: path for path in sorted(BUNDLED.glob("*.toml"), key=lambda path: path.stem)}


def find_claims(named: str) -> Path:
    """Give a claims file by its path, or the bundled one of this name."""
    known = bundled()
    if named in known:
        return known[named]
    if not Path(named).is_file():
        raise UsageError(f"{named}: there is no such claims file; bundled are {', '.join(known)}")
    return Path(named)


def audit(path: Path, file: ClaimsFile, data: Path | None = None) -> Audit:
    """Check every claim of a file that was read from this path; raises UsageError with the line.

    data: a CSV or a results.json; without it the data that the file names, if any.
    """
    if data is None and file.data:
        data = path.parent / file.data
    dataset = _dataset(path, file, data) if data else None
    findings = tuple(_found(path, name, claim, dataset) for name, claim in file.claim.items())
    return Audit(file.title, file.source, str(data) if data else None, findings)


def _dataset(path: Path, file: ClaimsFile, data: Path) -> Dataset:
    dataset = read_dataset(data)
    try:
        for column in file.rounded:
            dataset.has(column)
    except UsageError as error:
        raise UsageError(f"{_at(path, 'rounded')}: rounded: {error}") from error
    return replace(dataset, rounded=file.rounded)


def _found(path: Path, name: str, claim: Claim, dataset: Dataset | None) -> Finding:
    try:
        outcome = under(claim.assuming, _checked(claim, dataset))
    except UsageError as error:
        raise UsageError(f"{_at(path, 'claim', name)}: claim.{name}: {error}") from error
    return Finding(
        claim=name,
        says=claim.says,
        place=claim.place,
        check=claim.check,
        published=claim.printed,
        recomputed=outcome.recomputed,
        verdict=outcome.verdict,
        why=outcome.why,
    )


def _checked(claim: Claim, dataset: Dataset | None) -> Outcome:
    if claim.check in ALONE:
        return ALONE[claim.check](claim)
    return WITH_DATA[claim.check](claim, dataset)


def _at(path: Path, *place: str) -> str:
    """Name the claims file, if it is one, and the line of a key."""
    return at(path, path.read_text(encoding="utf-8") if path.is_file() else "", place)
