"""Who the judges of an agreement are: three phrasings of one model are one judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.results import Phrasings

AGREEMENT = "Agreement of the judges"


class Panel(NamedTuple):
    """The raters of an agreement, each with the judges whose mean its score is.

    reason: why there is no agreement; "" where there may be one. groups: judges that are one model.
    """

    heading: str
    raters: Mapping[str, Sequence[str]]
    reason: str
    groups: Sequence[Phrasings]


def panel(judges: Sequence[str], one_model: Sequence[Phrasings], version: int) -> Panel:
    """Return the raters among the judges that gave scores: one a model, one a judge in version 1.

    one_model: the judges of the study that are one model at one address.
    """
    groups = _present(judges, one_model)
    if version == 1 or not groups:
        return Panel(_heading_of_version_1(judges, groups), {j: [j] for j in judges}, "", groups)
    raters = _by_model(judges, groups)
    models = ", ".join(group.model for group in groups)
    if len(raters) == 1:
        reason = f"every judge is {models}: there is one model, and nobody for it to agree with"
        return Panel(
            f"Agreement between models: none, every judge is {models}", raters, reason, groups
        )
    heading = f"Agreement between models (of {models} the mean of its phrasings)"
    return Panel(heading, raters, "", groups)


def _present(judges: Sequence[str], one_model: Sequence[Phrasings]) -> list[Phrasings]:
    """Return the groups as far as their judges judged, and no group of one judge."""
    kept = [
        Phrasings(group.model, [name for name in group.judges if name in judges])
        for group in one_model
    ]
    return [group for group in kept if len(group.judges) > 1]


def _by_model(judges: Sequence[str], groups: Sequence[Phrasings]) -> dict[str, Sequence[str]]:
    grouped = {name for group in groups for name in group.judges}
    raters: dict[str, Sequence[str]] = {name: [name] for name in judges if name not in grouped}
    for group in groups:
        raters[f"{group.model} ({', '.join(group.judges)})"] = group.judges
    return dict(sorted(raters.items()))


def _heading_of_version_1(judges: Sequence[str], groups: Sequence[Phrasings]) -> str:
    if not groups:
        return AGREEMENT
    if len(groups[0].judges) == len(judges):
        return groups[0].words
    same = "; ".join(f"{', '.join(group.judges)} are {group.model}" for group in groups)
    return f"{AGREEMENT}, in part self-consistency ({same})"
