"""The table [ddft] of study.toml, as people write it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from harness.forms import (
    METRIC,
    AnyName,
    Name,
    Share,
    Strict,
    require_distinct,
    require_grid,
    require_names_apart,
)
from harness.results import CellKey, name_part
from harness.study.entries import ModelEntry, SourceEntry
from harness.study.folder import Study
from harness.study.plan import Plan, ReplyForm

Scoring = Literal["numbers", "verdict"]


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


class DDFTPlan(Plan):
    """[ddft]: grid, people and rules of a Drill-Down and Fabricate Test."""

    ROLES = ("subject", "interviewer", "judge")
    CELL = CellKey

    subjects: list[AnyName] = Field(min_length=1)
    interviewer: str
    jury: list[AnyName] = Field(min_length=1)
    concepts: list[Name] = Field(min_length=1)
    concept_file: str | None = None
    trap_file: str | None = None
    trap_source: Literal["drawn", "invented"] = "drawn"
    levels: list[Share] = Field(default=[0.0, 0.25, 0.5, 0.75, 1.0], min_length=1)
    arms: list[Literal["paper", "assertive", "hedged", "accuracy_first"]] = ["paper"]
    repeats: int = Field(default=1, ge=1)
    judge_reference: bool = True
    rubrics: Literal["joint", "separate"] = "joint"
    scoring: Scoring | dict[Name, Scoring] = "numbers"
    exclude_same_family: bool = False
    empty_answers: Literal["missing", "judged"] = "missing"
    missing_limit: Share = Field(0.05, json_schema_extra=METRIC)
    template_limit: Share = Field(0.20, json_schema_extra=METRIC)
    theta: Share = Field(0.70, json_schema_extra=METRIC)
    hoc_rule: Literal["max", "onset"] = Field("max", json_schema_extra=METRIC)
    empty_far_prime: Literal["undefined", "zero"] = Field("undefined", json_schema_extra=METRIC)
    normalization: Literal["clip", "max", "minmax"] = Field("clip", json_schema_extra=METRIC)
    aggregation: Literal["pooled", "by_concept"] = Field("pooled", json_schema_extra=METRIC)
    danger: Danger = Field(Danger(), json_schema_extra=METRIC)
    cuts: Cuts = Field(Cuts(), json_schema_extra=METRIC)

    @model_validator(mode="after")
    def _the_grid_fits(self) -> DDFTPlan:
        asked = len(self.subjects) * len(self.concepts)
        require_grid(asked, len(self.levels), len(self.arms), self.repeats)
        return self

    @model_validator(mode="after")
    def _no_twins(self) -> DDFTPlan:
        for field in ("subjects", "jury", "concepts", "levels", "arms"):
            require_distinct(field, getattr(self, field))
        for field in ("subjects", "jury"):
            require_names_apart(field, getattr(self, field), name_part)
        return self

    @model_validator(mode="after")
    def _scoring_is_of_judges(self) -> DDFTPlan:
        for name in self.scoring if isinstance(self.scoring, dict) else {}:
            if name not in self.jury:
                raise ValueError(f"scoring.{name}: is not on the jury ({', '.join(self.jury)})")
        return self

    @model_validator(mode="after")
    def _verdicts_have_one_question(self) -> DDFTPlan:
        named = [judge for judge, scoring in self.scoring_of.items() if scoring == "verdict"]
        if self.rubrics == "separate" and named:
            raise ValueError(
                f'rubrics = "separate" asks for each scale in a call of its own, and {named[0]!r} '
                'with scoring = "verdict" gives no scales but one word; leave out one of the two'
            )
        return self

    @property
    def scoring_of(self) -> dict[str, str]:
        """Return what each judge is asked for: "numbers" or "verdict"."""
        if isinstance(self.scoring, dict):
            return {name: self.scoring.get(name, "numbers") for name in self.jury}
        return dict.fromkeys(self.jury, self.scoring)

    @model_validator(mode="after")
    def _somebody_invents(self) -> DDFTPlan:
        if self.trap_source == "drawn":
            return self
        if self.interviewer == "scripted":
            raise ValueError('trap_source "invented" needs an interviewer; "scripted" invents none')
        if fixed := [arm for arm in self.arms if arm in ("assertive", "hedged")]:
            raise ValueError(
                f'trap_source "invented" goes without the arm {fixed[0]!r}, which puts its own '
                "words before a drawn claim"
            )
        return self

    @property
    def examined(self) -> list[str]:
        """Return the models under test."""
        return self.subjects

    @property
    def roles(self) -> dict[str, list[str]]:
        """Return the models of each role."""
        asks = [] if self.interviewer == "scripted" else [self.interviewer]
        return {"subject": self.subjects, "interviewer": asks, "judge": self.jury}

    @property
    def has_own_texts(self) -> bool:
        """Tell whether the reference texts are those of a concept file of the study."""
        return self.concept_file is not None

    def reply_form(self, model: str, role: str) -> ReplyForm:
        """Return "word" for a judge of verdicts, "json" for another; questions are text."""
        if role != "judge":
            return "text"
        return "word" if self.scoring_of[model] == "verdict" else "json"

    def cells(self) -> list[CellKey]:
        """Return the grid, sorted."""
        return sorted(
            CellKey(subject, concept, level, arm, repeat)
            for subject in self.subjects
            for concept in self.concepts
            for level in self.levels
            for arm in self.arms
            for repeat in range(1, self.repeats + 1)
        )

    def check_entries(
        self, models: Mapping[str, ModelEntry], sources: Mapping[str, SourceEntry]
    ) -> None:
        """Raise ValueError where a subject has no judge outside its own family."""
        del sources
        if not self.exclude_same_family:
            return
        families = {name: model.family for name, model in models.items()}
        for subject in self.subjects:
            if all(families[name] == families[subject] != "" for name in self.jury):
                raise ValueError(f"exclude_same_family leaves {subject!r} without a judge")


def ddft_plan(study: Study) -> DDFTPlan:
    """Return a study's table [ddft]; raises UsageError where it is of another protocol."""
    return study.plan_as(DDFTPlan, "ddft")
