"""Price lists as people write them."""

from __future__ import annotations

import datetime
from pathlib import Path

from pydantic import Field

from harness.errors import UsageError
from harness.forms import AnyName, Strict, parsed
from harness.results import Price, Prices


class PriceEntry(Strict):
    """[models.NAME] of a price list: currency units for a million tokens."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)


class PriceFile(Strict):
    """A price list: the day it was true, its currency, and what each model costs."""

    as_of: datetime.date
    currency: str = "USD"
    models: dict[AnyName, PriceEntry]


def read_prices(path: Path, models: list[str]) -> Prices:
    """Read a price list; raises UsageError for a mistake, or a model that the study has not."""
    listed = parsed(path, PriceFile)
    for name in listed.models:
        if name not in models:
            raise UsageError(
                f"{path}: models.{name}: the study has no such model; it has {', '.join(models)}"
            )
    prices = {name: Price(*entry.model_dump().values()) for name, entry in listed.models.items()}
    return Prices(listed.as_of.isoformat(), listed.currency, prices)
