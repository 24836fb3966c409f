"""A study's folder, its file, and where its parts are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from harness.errors import UsageError
from harness.files import file_name
from harness.forms import parsed
from harness.results import GoldKey
from harness.study.plan import Cell as Cell
from harness.study.plan import Plan
from harness.study.study_file import StudyFile

LIMITS = (
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "timeout",
    "api_key_env",
    "key_header",
    "served_as",
    "contact",
)
STUDIES = "cassettes"
MANIFESTS = "checksums"
Table = TypeVar("Table", bound=Plan)


class Study:
    """A study's folder, its file, and where its parts are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.name = self.folder.name
        self.file = _read(self.folder / "study.toml")
        self._check_names()

    @property
    def root(self) -> Path:
        """Return the folder that manifests' paths are relative to."""
        return self.folder.parent.parent

    @property
    def materials(self) -> Path:
        """Return the place of the frozen materials."""
        return self.folder / "materials.json"

    @property
    def results(self) -> Path:
        """Return the place of results.json."""
        return self.folder / "results.json"

    @property
    def is_published(self) -> bool:
        """Return whether there are results or a manifest; before that a study is being recorded."""
        manifest = self.root / MANIFESTS / f"{self.name}.md5"
        return self.results.exists() or manifest.exists()

    def recorded_cells(self) -> list[Cell]:
        """Return the cells that are recorded to their end, in the order of the grid."""
        return [cell for cell in self.cells() if self.cassette(cell).exists()]

    def plan_as(self, form: type[Table], protocol: str) -> Table:
        """Return the protocol's table as a protocol's own form.

        Raises UsageError where the study is of another protocol.
        """
        if isinstance(self.file.plan, form):
            return self.file.plan
        raise UsageError(
            f"{self.name}: this is a study of the protocol {self.file.protocol!r}; what was asked "
            f"for is there for {protocol!r} only."
        )

    def cells(self) -> Sequence[Cell]:
        """Return the grid, and behind it the cell of the gold set where that is recorded."""
        exam = [GoldKey()] if self.file.jury_check else []
        return [*self.file.plan.cells(), *exam]

    def cassette(self, cell: Cell) -> Path:
        """Return the place of a cell's cassette."""
        return self.folder / f"{file_name(cell.name)}.json"

    def identity(self, materials: bytes) -> str:
        """Return the hash of all that shapes requests and results: study and materials.

        Workers, limits, titles, facts and the harness version decide nothing and are left out. So
        are values that are the default, so that a later release with more settings goes on.
        """
        unseen = {"record", "title", "about", "facts", "prompts"}  # their texts are materials
        study = self.file.model_dump(mode="json", exclude=unseen, exclude_defaults=True)
        for entry in (
            *study["models"].values(),
            *study.get("sources", {}).values(),
            *study.get("endpoints", {}).values(),
        ):
            for limit in LIMITS:
                entry.pop(limit, None)
        frozen = json.loads(materials)
        for apart in ("harness_version", "prices"):
            frozen.pop(apart, None)
        identity_text = json.dumps([study, frozen], sort_keys=True, separators=(",", ":"))
        return hashlib.md5(identity_text.encode(), usedforsecurity=False).hexdigest()

    def _check_names(self) -> None:
        names = [self.cassette(cell).name for cell in self.cells()]
        if "results.json" in names or "materials.json" in names:
            raise UsageError(
                f"{self.folder}: a cell would overwrite the study's own files; "
                "rename what it is named after"
            )
        if any(len(name) > 200 for name in names):
            raise UsageError(f"{self.folder}: a cell's name is too long for a file")


def _read(path: Path) -> StudyFile:
    if not path.exists():
        raise UsageError(
            f"{path}: there is no such study. `harness ls` lists the studies; "
            "--root says where to look."
        )
    return parsed(path, StudyFile)


def find_root(start: Path) -> Path:
    """Return the nearest folder, from `start` up, that holds a folder `cassettes`."""
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
    folders = sorted(path.parent for path in folder.glob("*/study.toml"))
    if not folders:
        raise UsageError(f"{folder}: no study here (a study is a folder with a study.toml)")
    return [Study(path) for path in folders]
