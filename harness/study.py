"""study.toml: what people write, checked strictly, every error with its place and its mend."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from harness.errors import UsageError
from harness.files import file_name
from harness.results import CellKey, Price, Prices

LIMITS = ("concurrency", "requests_per_minute", "tokens_per_minute", "timeout", "api_key_env")
STUDIES = "cassettes"
MANIFESTS = "checksums"
Share = Annotated[float, Field(ge=0, le=1)]
Form = TypeVar("Form", bound=BaseModel)
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]


class Strict(BaseModel):
    """What people write: no unknown key passes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelEntry(Strict):
    """[models.NAME]: where a model is, what is sent with every request, and its limits."""

    provider: Literal["openai", "azure", "anthropic"] = "openai"
    base_url: str = Field(pattern=r"^https?://")
    model: str
    api_version: str = ""
    family: str = ""
    api_key_env: str | None = None
    params: dict[str, Any] = {}
    omit: list[str] = []
    json_mode: Literal["schema", "object", "none"] = "schema"
    concurrency: int = Field(default=4, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=600, gt=0)

    @model_validator(mode="after")
    def _azure_names_its_version(self) -> ModelEntry:
        if self.provider == "azure" and not self.api_version:
            raise ValueError('provider "azure" needs an api_version, such as "2024-10-21"')
        return self


class Danger(Strict):
    """Thresholds of the danger zone: SAS above, FAR below."""

    sas_above: Share = 0.5
    far_below: Share = 0.5


class FactsEntry(Strict):
    """[facts.NAME]: what is known of a subject from elsewhere, for the study-level analysis."""

    parameters_b: float | None = Field(default=None, gt=0)
    reasoning: bool | None = None
    outside: dict[str, float] = {}


class DDFT(Strict):
    """[ddft]: grid, people and rules of a Drill-Down and Fabricate Test."""

    subjects: list[Name] = Field(min_length=1)
    interviewer: str
    jury: list[Name] = Field(min_length=1)
    concepts: list[Name] = Field(min_length=1)
    concept_file: str | None = None
    trap_file: str | None = None
    levels: list[Share] = Field(default=[0.0, 0.25, 0.5, 0.75, 1.0], min_length=1)
    arms: list[Literal["paper", "assertive", "hedged", "accuracy_first"]] = ["paper"]
    repeats: int = Field(default=1, ge=1)
    judge_reference: bool = True
    rubrics: Literal["joint", "separate"] = "joint"
    exclude_same_family: bool = False
    missing_limit: Share = 0.05
    theta: Share = 0.70
    hoc_rule: Literal["max", "onset"] = "max"
    empty_far_prime: Literal["undefined", "zero"] = "undefined"
    normalization: Literal["clip", "max", "minmax"] = "clip"
    aggregation: Literal["pooled", "by_concept"] = "pooled"
    danger: Danger = Danger()
    params: dict[Literal["subject", "interviewer", "judge"], dict[str, Any]] = {}

    @model_validator(mode="after")
    def _no_twins(self) -> DDFT:
        for field in ("subjects", "jury", "concepts", "levels", "arms"):
            values = getattr(self, field)
            if len(set(values)) != len(values):
                raise ValueError(f"{field}: an entry stands twice")
        return self

    def cells(self) -> list[CellKey]:
        """Give the grid, sorted."""
        return sorted(
            CellKey(subject, concept, level, arm, repeat)
            for subject in self.subjects
            for concept in self.concepts
            for level in self.levels
            for arm in self.arms
            for repeat in range(1, self.repeats + 1)
        )


class Record(Strict):
    """[record]: how to record; decides nothing about the results."""

    workers: int = Field(default=4, ge=1, le=64)
    tries: int = Field(default=6, ge=1, le=20)
    stop_after_unusable: int = Field(default=10, ge=1)


class StudyFile(Strict):
    """A whole study.toml."""

    title: str
    about: str = ""
    protocol: Literal["ddft"]
    as_of: datetime.date
    seed: int = Field(ge=0)
    models: dict[Name, ModelEntry]
    facts: dict[Name, FactsEntry] = {}
    ddft: DDFT
    record: Record = Record()

    @model_validator(mode="after")
    def _models_are_there(self) -> StudyFile:
        wanted = [*self.ddft.subjects, *self.ddft.jury]
        if self.ddft.interviewer != "scripted":
            wanted.append(self.ddft.interviewer)
        for name in self.facts:
            if name not in self.ddft.subjects:
                raise ValueError(f"facts.{name}: is no subject of the study")
        for name in wanted:
            if name not in self.models:
                raise ValueError(
                    f"the model {name!r} has no [models.{name}] table; "
                    f"there are: {', '.join(self.models) or 'none'}"
                )
        return self

    @model_validator(mode="after")
    def _somebody_judges(self) -> StudyFile:
        families = {name: model.family for name, model in self.models.items()}
        for subject in self.ddft.subjects if self.ddft.exclude_same_family else []:
            if all(families[name] == families[subject] != "" for name in self.ddft.jury):
                raise ValueError(f"exclude_same_family leaves {subject!r} without a judge")
        return self


class Study:
    """A study's folder, its file, and where its parts are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.name = self.folder.name
        self.file = _read(self.folder / "study.toml")
        self._check_names()

    @property
    def root(self) -> Path:
        """Give the folder that manifests' paths are relative to."""
        return self.folder.parent.parent

    @property
    def materials(self) -> Path:
        """Give the place of the frozen materials."""
        return self.folder / "materials.json"

    @property
    def results(self) -> Path:
        """Give the place of results.json."""
        return self.folder / "results.json"

    @property
    def is_published(self) -> bool:
        """Tell whether there are results or a manifest; before that a study is being recorded."""
        manifest = self.root / MANIFESTS / f"{self.name}.md5"
        return self.results.exists() or manifest.exists()

    def cells(self) -> list[CellKey]:
        """Give the grid."""
        return self.file.ddft.cells()

    def cassette(self, cell: CellKey) -> Path:
        """Give the place of a cell's cassette."""
        return self.folder / f"{file_name(cell.name)}.json"

    def identity(self, materials: bytes) -> str:
        """Give the hash of all that shapes requests and results: study and materials.

        Workers, limits, titles, facts and the harness version decide nothing and are left out. So
        are values that are the default, so that a later release with more settings goes on.
        """
        unseen = {"record", "title", "about", "facts"}
        study = self.file.model_dump(mode="json", exclude=unseen, exclude_defaults=True)
        for model in study["models"].values():
            for limit in LIMITS:
                model.pop(limit, None)
        frozen = json.loads(materials)
        for apart in ("harness_version", "prices"):
            frozen.pop(apart, None)
        whole = json.dumps([study, frozen], sort_keys=True, separators=(",", ":"))
        return hashlib.md5(whole.encode(), usedforsecurity=False).hexdigest()

    def _check_names(self) -> None:
        names = [self.cassette(cell).name for cell in self.cells()]
        if "results.json" in names or "materials.json" in names:
            raise UsageError(
                f"{self.folder}: a cell would overwrite the study's own files; "
                "rename the subject or the concept"
            )
        if any(len(name) > 200 for name in names):
            raise UsageError(f"{self.folder}: a cell's name is too long for a file")


class PriceEntry(Strict):
    """[models.NAME] of a price list: currency units for a million tokens."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)


class PriceFile(Strict):
    """A price list: the day it was true, its currency, and what each model costs."""

    as_of: datetime.date
    currency: str = "USD"
    models: dict[Name, PriceEntry]


def read_prices(path: Path, known: list[str]) -> Prices:
    """Read a price list; raises UsageError for a mistake, or a model that the study has not."""
    listed = parsed(path, PriceFile)
    for name in listed.models:
        if name not in known:
            raise UsageError(
                f"{path}: models.{name}: the study has no such model; it has {', '.join(known)}"
            )
    prices = {name: Price(*entry.model_dump().values()) for name, entry in listed.models.items()}
    return Prices(listed.as_of.isoformat(), listed.currency, prices)


def _read(path: Path) -> StudyFile:
    if not path.exists():
        raise UsageError(
            f"{path}: there is no such study. `harness ls` lists the studies; "
            "--root says where to look."
        )
    return parsed(path, StudyFile)


def parsed(path: Path, form: type[Form]) -> Form:
    """Read a TOML file of ours; raises UsageError with the file, the line and the mend."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error})") from error
    try:
        return form.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is not TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(_explained(path, text, error)) from error


def _explained(path: Path, text: str, error: ValidationError) -> str:
    lines = []
    for fault in error.errors():
        place = [str(part) for part in fault["loc"]]
        got = "" if fault["type"] in ("missing", "value_error") else f", got {fault['input']!r}"
        line = _line_of(text, place)
        at = f"{path}, line {line}" if line else str(path)
        lines.append(f"{at}: {'.'.join(place) or 'file'}: {fault['msg']}{got[:200]}")
    return "\n".join(lines)


def _line_of(text: str, place: list[str]) -> int | None:
    """Find the line that a key stands in; None where it stands nowhere (a missing key)."""
    table: list[str] = []
    keys = [part for part in place if not part.isdigit()]
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            table = _key_parts(stripped.strip("[]"))
            if table == keys:
                return number
        elif "=" in stripped and keys:
            found = table + _key_parts(stripped.partition("=")[0])
            if found == keys[: len(found)] and len(found) >= len(keys) - 1:
                return number
    return None


def _key_parts(key: str) -> list[str]:
    """Split a dotted TOML key; a quoted part may hold dots."""
    return [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|([^.\s"]+)', key)]


def find_root(start: Path) -> Path:
    """Give the nearest folder, from `start` up, that holds a folder `cassettes`."""
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / STUDIES).is_dir():
            return folder
    raise UsageError(
        f"no folder `{STUDIES}` here or above ({start.resolve()}). "
        "Change into the repository, or say --root FOLDER."
    )


def find_study(named: str, root: Path | None) -> Study:
    """Open a study by its name, or by the path of its folder."""
    path = Path(named)
    if (path / "study.toml").is_file() or len(path.parts) > 1:
        return Study(path)
    return Study((root or find_root(Path.cwd())) / STUDIES / named)


def all_studies(root: Path | None) -> list[Study]:
    """Open every study under the root, by name."""
    folder = (root or find_root(Path.cwd())) / STUDIES
    found = sorted(path.parent for path in folder.glob("*/study.toml"))
    if not found:
        raise UsageError(f"{folder}: no study here (a study is a folder with a study.toml)")
    return [Study(path) for path in found]
