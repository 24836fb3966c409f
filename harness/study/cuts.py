"""The cuts by which a study sorts answers and subjects: tables of [ddft]."""

from __future__ import annotations

from pydantic import model_validator

from harness.forms import Share, Strict


class Danger(Strict):
    """Thresholds of the danger zone: SAS above, FAR below."""

    sas_above: Share = 0.5
    far_below: Share = 0.5


class Cuts(Strict):
    """[ddft.cuts]: the SAS that answers of FAR' lie below, the FAR that those of SAS' lie above.

    robust_above, competent_above: the CI above which a phenotype begins.
    """

    incoherent_below: Share = 0.5
    factual_above: Share = 0.2
    robust_above: Share = 0.60
    competent_above: Share = 0.30

    @model_validator(mode="after")
    def _robust_is_more(self) -> Cuts:
        if self.competent_above > self.robust_above:
            raise ValueError(
                f"competent_above {self.competent_above:g} lies above robust_above "
                f"{self.robust_above:g}"
            )
        return self
