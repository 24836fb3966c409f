"""Judge recorded answers again with another jury, in a study of its own."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

from harness.errors import UsageError
from harness.files import write_atomic
from harness.protocols.registry import protocol_of
from harness.recording import cassette as cassettes
from harness.recording.recorder import Recorder
from harness.results.table import Table
from harness.run.checked import checked
from harness.run.wiring import frozen
from harness.study.folder import Study

_jury = re.compile(r"(?m)^jury\s*=\s*\[[^\]]*\]")


def rejudged_study(study: Study, jury: Sequence[str], name: str, models: Path | None) -> Study:
    """Make the new study's folder, its dialogues given and its judgements to be recorded.

    The old study is only read. models: a file of more [models.NAME] tables. A folder that is there
    already is gone on with. Raises UsageError where the jury or the folder does not fit.
    """
    if not protocol_of(study).CAN_REJUDGE:
        raise UsageError(
            f"{study.name} is a study of the protocol {study.file.protocol!r}, which has no jury "
            "that another could stand in for"
        )
    folder = study.folder.parent / name
    if not folder.exists():
        _write_study(study, folder, jury, models)
    new = Study(folder)
    judges = protocol_of(new).judges(new)
    if list(jury) != judges:
        raise UsageError(
            f"{folder}: is there already with the jury {', '.join(judges)}; "
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
    text = _without_leavers(text, study.file.protocol, jury)
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


def _without_leavers(text: str, protocol: str, jury: Sequence[str]) -> str:
    """Return a study file's text whose `scoring` by judges names none that has left the jury."""
    scoring = tomllib.loads(text)[protocol].get("scoring")
    if not isinstance(scoring, dict) or scoring.keys() <= set(jury):
        return text
    staying = [f'"{name}" = "{form}"' for name, form in scoring.items() if name in jury]
    header = re.escape(f"[{protocol}.scoring]")
    inline = f"scoring = {{ {', '.join(staying)} }}\n"
    table = "\n".join([f"[{protocol}.scoring]", *staying, "", ""])
    text = re.sub(r"(?m)^scoring\s*=\s*\{[^}]*\}.*\n?", lambda _: inline, text)
    return re.sub(rf"(?m)^{header}.*\n((?!\s*\[).*(\n|\Z))*?(?=\s*\[|\Z)", lambda _: table, text)


def _give_dialogues(study: Study, new: Study) -> None:
    """Begin each cell's journal with the calls that no judge made; they are not sent again."""
    identity = new.identity(frozen(new).data)
    is_judgement = protocol_of(study).is_judgement
    for cell in study.cells():
        path = new.cassette(cell)
        if path.exists() or path.with_suffix(".journal").exists():
            continue
        recorder = Recorder(path, "new_episodes", identity=identity)
        try:
            for interaction in cassettes.load(study.cassette(cell)):
                if not is_judgement(interaction.response.call or ""):
                    recorder.keep(interaction)
        finally:
            recorder.release()


def jury_tables(study: Study, new: Study) -> list[Table]:
    """Return what another jury changes, of two studies that share their dialogues, as tables."""
    before, after = checked(study).results, checked(new).results
    return protocol_of(study).jury_tables(before, after)
