"""Every claim of a file, with its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.audit.checks import CHECKS
from harness.audit.claim import Claim
from harness.audit.claims import ClaimsFile
from harness.audit.dataset import Dataset, read_dataset
from harness.audit.printed import Rounding
from harness.audit.verdicts import VERDICTS, CheckOutcome, ClaimVerdict, against, joined, under
from harness.errors import UsageError
from harness.forms import at

BUNDLED = Path(__file__).with_name("data")


@dataclass(frozen=True)
class AuditFinding:
    """A claim and what became of it."""

    claim: str
    says: str
    place: str
    check: str
    published: str
    recomputed: str
    verdict: ClaimVerdict
    why: str


@dataclass(frozen=True)
class Audit:
    """What was audited, against which data, and a finding for every claim, in the file's order."""

    title: str
    source: str
    data: str | None
    findings: tuple[AuditFinding, ...]

    @property
    def counts(self) -> dict[ClaimVerdict, int]:
        """Return how many claims have each verdict."""
        counted = Counter(finding.verdict for finding in self.findings)
        return {verdict: counted[verdict] for verdict in VERDICTS}


def bundled() -> dict[str, Path]:
    """Return the claims files that come with the package, by name."""
    return {path.stem: path for path in sorted(BUNDLED.glob("*.toml"), key=lambda path: path.stem)}


def find_claims(named: str) -> Path:
    """Return a claims file by its path, or the bundled one of this name."""
    files = bundled()
    if named in files:
        return files[named]
    if not Path(named).is_file():
        raise UsageError(f"{named}: there is no such claims file; bundled are {', '.join(files)}")
    return Path(named)


def audit(path: Path, file: ClaimsFile, data: Path | None = None) -> Audit:
    """Check every claim of a file that was read from this path; raises UsageError with the line.

    data: a CSV or a results.json; without it the data that the file names, if any.
    """
    if data is None and file.data:
        data = path.parent / file.data
    dataset = _dataset(path, file, data) if data else None
    outcomes = {
        name: _checked(path, name, claim, dataset, file.other_source)
        for name, claim in file.claim.items()
    }
    outcomes = _one_rounding_a_table(file.claim, outcomes)
    if file.rounding is not None:
        way = Rounding.CUT_OFF if file.rounding == "cut off" else Rounding.NEAREST
        reason = f"the source says that its figures are {way}"
        outcomes = {name: _only(way, outcome, reason) for name, outcome in outcomes.items()}
    findings = tuple(
        _finding(name, file.claim[name], outcome) for name, outcome in outcomes.items()
    )
    return Audit(file.title, file.source, str(data) if data else None, findings)


def _dataset(path: Path, file: ClaimsFile, data: Path) -> Dataset:
    dataset = read_dataset(data)
    try:
        for column in file.rounded:
            dataset.has(column)
    except UsageError as error:
        raise UsageError(f"{_at(path, 'rounded')}: rounded: {error}") from error
    return replace(dataset, rounded=file.rounded)


def _checked(
    path: Path, name: str, claim: Claim, dataset: Dataset | None, data_source: str
) -> CheckOutcome:
    check = CHECKS[claim.check]
    try:
        outcome = check.outcome(claim, dataset)
    except UsageError as error:
        raise UsageError(f"{_at(path, 'claim', name)}: claim.{name}: {error}") from error
    uses_data = (
        check.with_data is not None and dataset is not None and getattr(claim, "columns", True)
    )
    other_source = claim.other_source or (data_source if uses_data else "")
    return under(claim.assuming, against(other_source, outcome))


def _one_rounding_a_table(
    claims: Mapping[str, Claim], outcomes: Mapping[str, CheckOutcome]
) -> dict[str, CheckOutcome]:
    """Contradict the claims that fit only another way of rounding than the rest of their table.

    The table's way is the one that the most of its claims fit, to the nearest where as many do.
    """
    judged = dict(outcomes)
    for table in {claim.table for claim in claims.values() if claim.table}:
        names = [name for name, claim in claims.items() if claim.table == table]
        fits = Counter(way for name in names for way in outcomes[name].roundings)
        way = max(Rounding, key=lambda rounding: (fits[rounding], rounding is Rounding.NEAREST))
        reason = f"most figures of {table} are {way}"
        judged |= {name: _only(way, outcomes[name], reason) for name in names}
    return judged


def _only(way: Rounding, outcome: CheckOutcome, reason: str) -> CheckOutcome:
    """Contradict what holds only under another way of rounding."""
    if not outcome.roundings or way in outcome.roundings:
        return outcome
    return replace(outcome, verdict="contradicted", why=joined(reason, outcome.why))


def _finding(name: str, claim: Claim, outcome: CheckOutcome) -> AuditFinding:
    return AuditFinding(
        claim=name,
        says=claim.says,
        place=claim.place,
        check=claim.check,
        published=claim.printed,
        recomputed=outcome.recomputed,
        verdict=outcome.verdict,
        why=outcome.why,
    )


def _at(path: Path, *place: str) -> str:
    """Name the claims file, if it is one, and the line of a key."""
    return at(path, path.read_text(encoding="utf-8") if path.is_file() else "", place)
