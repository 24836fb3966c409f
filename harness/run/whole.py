"""What is left out of a bundle: nothing is computed from a study that lacks bodies."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from harness.errors import UsageError
from harness.json_files import typed
from harness.study.folder import Study

LEFT_OUT = "LEFT-OUT.json"


class Body(msgspec.Struct):
    """A body that is left out: of the answer to a call or of its request, and why."""

    cell: str
    call: str
    part: str
    url: str
    bytes: int
    sha256: str
    why: str


class LeftOut(msgspec.Struct):
    """LEFT-OUT.json: the whole study's fingerprint, and every body that is left out.

    models: those whose answers are left out; what others said stays and may quote them.
    same_models: of these, which other names in the study are the same model at the same address;
    the answers under them stay.
    """

    study: str
    fingerprint: str
    bodies: list[Body]
    models: list[str] = []
    same_models: dict[str, list[str]] = {}

    @property
    def same_words(self) -> list[str]:
        """Say of each other name of a model that is left out that its answers stay."""
        return [
            f"{name} is the same model as {model}; its answers stay"
            for model, names in self.same_models.items()
            for name in names
        ]

    @property
    def cells(self) -> Counter[str]:
        """Return the cells that lack something, and how many bodies."""
        return Counter(body.cell for body in self.bodies)


def read_left_out(root: Path) -> LeftOut | None:
    """Read what is left out of a bundle; None where everything is there."""
    path = root / LEFT_OUT
    if not path.is_file():
        return None
    return typed(path, path.read_bytes(), LeftOut, "Get the bundle again.")


def require_whole(study: Study) -> None:
    """Raise UsageError where bodies of a study are left out, before anything computes from them."""
    left_out = read_left_out(study.root)
    if left_out is not None:
        raise UsageError(
            f"{study.name}: {len(left_out.bodies)} bodies in {len(left_out.cells)} cells were left "
            f"out of this bundle, as they may not be handed on ({LEFT_OUT} names them). What was "
            "computed from them cannot be computed anew here. Take the whole bundle or "
            "the study itself, or run `harness replay`, which checks the cells that are whole."
        )
