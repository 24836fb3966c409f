"""Judge recorded answers again with another jury, in a study of its own."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.files import write_atomic
from harness.protocols.ddft.metrics.formulas import mean
from harness.protocols.ddft.study_table import ddft_plan
from harness.recording import cassette as cassettes
from harness.recording.recorder import Recorder
from harness.results import Results, SubjectMetrics, Value
from harness.run.checked import checked
from harness.run.wiring import frozen
from harness.study.folder import Study

_jury = re.compile(r"(?m)^jury\s*=\s*\[[^\]]*\]")


class Change(NamedTuple):
    """What another jury changes for one subject: before and after, None where undefined."""

    subject: str
    arm: str
    far: tuple[float | None, float | None]
    sas: tuple[float | None, float | None]
    ci: tuple[float | None, float | None]
    phenotype: tuple[str | None, str | None]


def rejudged_study(study: Study, jury: Sequence[str], name: str, models: Path | None) -> Study:
    """Make the new study's folder, its dialogues given and its judgements to be recorded.

    The old study is only read. models: a file of more [models.NAME] tables. A folder that is there
    already is gone on with. Raises UsageError where the jury or the folder does not fit.
    """
    _ = ddft_plan(study)  # raises where there is no jury
    folder = study.folder.parent / name
    if not folder.exists():
        _write_study(study, folder, jury, models)
    new = Study(folder)
    if list(jury) != ddft_plan(new).jury:
        raise UsageError(
            f"{folder}: is there already with the jury {', '.join(ddft_plan(new).jury)}; "
            "name another study with --name."
        )
    _give_dialogues(study, new)
    return new


def _write_study(study: Study, folder: Path, jury: Sequence[str], models: Path | None) -> None:
    text = (study.folder / "study.toml").read_text("utf-8")
    listed = ", ".join(f'"{name}"' for name in jury)
    text, changed = _jury.subn(f"jury = [{listed}]", text)
    if changed != 1:
        raise UsageError(
            f"{study.folder / 'study.toml'}: the jury does not stand in a line of its own "
            f"(jury = [...]), so it cannot be replaced. Write {folder / 'study.toml'} yourself."
        )
    if models is not None:
        text += "\n" + models.read_text("utf-8")
    folder.mkdir()
    try:
        write_atomic(folder / "study.toml", text.encode())
        Study(folder)
        write_atomic(folder / "materials.json", study.materials.read_bytes())
    except BaseException:
        shutil.rmtree(folder)
        raise


def _give_dialogues(study: Study, new: Study) -> None:
    """Begin each cell's journal with the calls that no judge made; they are not sent again."""
    identity = new.identity(frozen(new).data)
    for cell in study.cells():
        path = new.cassette(cell)
        if path.exists() or path.with_suffix(".journal").exists():
            continue
        recorder = Recorder(path, "new_episodes", identity=identity)
        try:
            for interaction in cassettes.load(study.cassette(cell)):
                if "/judge/" not in (interaction.response.call or ""):
                    recorder.keep(interaction)
        finally:
            recorder.release()


def changes(study: Study, new: Study) -> list[Change]:
    """Compare two studies that share their dialogues, subject by subject."""
    before, after = checked(study).results, checked(new).results
    pairs = zip(before.subjects, after.subjects, strict=True)
    return [
        Change(
            old.subject,
            old.arm,
            (_mean(before, old, "far"), _mean(after, new_metrics, "far")),
            (_mean(before, old, "sas"), _mean(after, new_metrics, "sas")),
            (_number(old.ci_raw), _number(new_metrics.ci_raw)),
            (old.phenotype, new_metrics.phenotype),
        )
        for old, new_metrics in pairs
    ]


def _mean(results: Results, subject: SubjectMetrics, scale: str) -> float | None:
    place = (subject.subject, subject.arm)
    cells = [cell for cell in results.cells if (cell.cell.subject, cell.cell.arm) == place]
    scores = [getattr(turn, scale) for cell in cells for turn in cell.turns]
    return mean([score for score in scores if score is not None])


def _number(value: Value) -> float | None:
    return value.value
