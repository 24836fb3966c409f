"""Which judges or models of a study are one model that is asked in several ways."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from harness.results import Phrasings
from harness.study.folder import Study


class Served(Protocol):
    """What a cell says of the models: the names that each endpoint gave for its model."""

    served: dict[str, list[str]]


class Group(NamedTuple):
    """Judges at one address that share a model, and every name that this model goes by."""

    address: str
    names: set[str]
    judges: list[str]


def one_model(
    study: Study, cells: Sequence[Served] = (), models: Sequence[str] | None = None
) -> list[Phrasings]:
    """Return the groups of judges, or of these models, that are one model at one address.

    Two judges are one model where they share a base_url and a name of the model: the one that the
    study asks for, or one that the endpoint gave in the cells.
    """
    served, groups = _served(cells), list[Group]()
    names = study.file.plan.roles.get(study.file.plan.JUDGES, []) if models is None else models
    for judge in sorted(set(names)):
        model = study.file.models[judge]
        group = Group(model.base_url.rstrip("/"), {model.model, *served.get(judge, ())}, [judge])
        groups = _joined(groups, group)
    groups_of_judges = [Phrasings(_model(study, group), sorted(group.judges)) for group in groups]
    return sorted(phrasings for phrasings in groups_of_judges if len(phrasings.judges) > 1)


def _model(study: Study, group: Group) -> str:
    return study.file.models[min(group.judges)].model


def _joined(groups: Sequence[Group], new: Group) -> list[Group]:
    """Return the groups with a new one, into which all that are the same model are taken."""
    apart = []
    for group in groups:
        if group.address == new.address and group.names & new.names:
            new = Group(new.address, group.names | new.names, group.judges + new.judges)
        else:
            apart.append(group)
    return [*apart, new]


def _served(cells: Sequence[Served]) -> Mapping[str, set[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for cell in cells:
        for model, names_given in cell.served.items():
            names[model].update(names_given)
    return names
