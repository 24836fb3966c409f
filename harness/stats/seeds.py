"""Generators by label, so that no draw depends on what else was drawn."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator


def seeded(seed: int, label: str) -> Generator:
    """Return a generator of its own for a label: SeedSequence([seed, first 8 bytes of its MD5])."""
    from numpy.random import PCG64, Generator, SeedSequence  # slow to load, for commands that draw

    mark = hashlib.md5(label.encode(), usedforsecurity=False).digest()[:8]
    return Generator(PCG64(SeedSequence([seed, int.from_bytes(mark, "big")])))
