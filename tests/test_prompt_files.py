"""[prompts] of study.toml: a user's own prompts and rubrics, frozen at the first recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from drilling import answering, world, write_drill
from loopback import Loopback
from provider import Provider
from study_folder import edit, write_study

from harness.cli import main
from harness.errors import UsageError
from harness.recording import cassette as cassettes
from harness.results import read_materials
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.run.wiring import foreseen
from harness.study.folder import Study

RUBRIC = (
    "# Our rubric\n"
    'judge_system = "You rate the truth (far) and the form (sas) of an answer, 0.0 to 1.0."\n'
    'scripted_turn_1 = "What is {concept} about?"\n'
)


def with_prompts(study: Study, **files: str) -> Study:
    """Return a study with files of prompts beside its study.toml, named in it in this order."""
    for name, text in files.items():
        (study.folder / f"{name}.toml").write_text(text)
    listed = json.dumps([f"{name}.toml" for name in files])
    head = f"[{study.file.protocol}]"
    edit(study, f"{head}\n", f"[prompts]\nfiles = {listed}\n{head}\n")
    return Study(study.folder)


def system_of(study: Study, call: str) -> str:
    kept = cassettes.load(study.cassette(study.cells()[0])).get(call, 0)
    assert kept is not None
    return str(json.loads(kept.request_bytes)["messages"][0]["content"])


def test_a_rubric_of_ones_own_is_sent_frozen_and_replayed(tmp_path: Path) -> None:
    """Judges get it; the materials hold it, and a changed file is refused before anything is sent.

    Without the file, as in a bundle, the study still replays.
    """
    with Loopback(Provider()) as server:
        study = with_prompts(write_study(tmp_path, server.url, levels="[0.5]"), rubric=RUBRIC)
        assert Recording(study).run().problems == []
        assert system_of(study, "turn-1/judge/judge-b").startswith("You rate the truth (far)")
        prompts = read_materials(study.materials).prompts
        assert prompts["judge_system"].startswith("You rate")
        assert prompts["scripted_turn_2"]
        file = study.folder / "rubric.toml"
        file.write_text(RUBRIC.replace("form (sas)", "style (sas)"))
        answered = server.answered
        with pytest.raises(UsageError, match=r"line 2: judge_system is not the prompt"):
            Recording(study)
        assert server.answered == answered
        file.write_text(RUBRIC)
    assert replay(study, verify_checksums=True).ok
    file.unlink()
    assert replay(study, verify_checksums=False).numbers == "identical"


def test_a_drill_has_its_own_prompts_too(tmp_path: Path) -> None:
    """An evaluator's rubric, from two files."""
    with Loopback(answering(world())) as server:
        study = write_drill(tmp_path, server.url, questions=2, max_depth=1)
        packaged = foreseen(study).prompts
        name = next(name for name in packaged if name.startswith("evaluator"))
        own = f"{name} = {json.dumps(packaged[name] + ' Be strict.')}\n"
        study = with_prompts(study, first=own, second="")
        assert Recording(study).run().problems == []
        frozen = read_materials(study.materials).prompts
    assert frozen == {**packaged, name: packaged[name] + " Be strict."}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('\njudge_sistem = "x"', ["line 2", "judge_sistem", "did you mean judge_system?"]),
        ('nothing_like_it = "x"', ["line 1", "There are: ", "scripted_turn_1"]),
        ('scripted_turn_1 = "Say {concpt}."', ["line 1", "{concpt}", "did you mean {concept}?"]),
        ('scripted_turn_1 = ""', ["line 1", "is empty"]),
        ("scripted_turn_1 = 1", ["line 1", "scripted_turn_1", "string"]),
        ('[scripted]\nturn_1 = "x"', ["line 1", "scripted"]),
        ('judge_schema = "{"', ["line 1", "judge_schema", "no JSON object"]),
        ("scripted_turn_1 = ", ["own.toml", "not TOML"]),
    ],
)
def test_a_mistake_in_a_prompt_file_is_told(tmp_path: Path, text: str, told: list[str]) -> None:
    """With file, line and what was meant; in a dry run and in record, nothing being sent."""
    study = with_prompts(write_study(tmp_path, "http://127.0.0.1:1"), own=text)
    for words in (["--dry-run"], []):
        done = CliRunner().invoke(main, ["record", str(study.folder), *words])
        assert done.exit_code == 2, done.output
        for word in ["own.toml", *told]:
            assert word in done.output
    assert not study.materials.exists()


def test_a_prompt_stands_in_one_file(tmp_path: Path) -> None:
    """Two files with the same prompt: the second place and the first are told."""
    study = with_prompts(write_study(tmp_path, "http://127.0.0.1:1"), one=RUBRIC, two=RUBRIC)
    with pytest.raises(UsageError, match=r"two.toml, line 2: .*stands in .*one.toml, line 2 too"):
        foreseen(study)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Before the first recording it must be there."""
    study = with_prompts(write_study(tmp_path, "http://127.0.0.1:1"), own="")
    (study.folder / "own.toml").unlink()
    with pytest.raises(UsageError, match=r"own.toml: cannot be read"):
        foreseen(study)


def test_a_wrong_list_of_files_is_told_with_its_line(tmp_path: Path) -> None:
    """As any other setting."""
    study = write_study(tmp_path, "http://127.0.0.1:1")
    edit(study, "[ddft]", '[prompts]\nfile = "own.toml"\n[ddft]')
    with pytest.raises(UsageError, match=r"study.toml, line \d+: prompts.file: Extra inputs"):
        Study(study.folder)


def an_example(number: int, text: str = "An example.") -> str:
    name = f"question_example_{number}"
    return f'{name} = "{text}"\n{name}_reply = "{text}"\n'


@pytest.mark.parametrize(
    ("text", "left", "told"),
    [
        (an_example(3), [1, 2, 3], ""),
        (an_example(2, ""), [1], ""),
        (an_example(1, "") + an_example(2, ""), [], ""),
        (an_example(1, ""), [], "numbered without a gap"),
        (an_example(4), [], "numbered without a gap"),
        ('question_example_2 = ""\n', [], "come and go together"),
        ('question_example_3 = "Half."\n', [], "come and go together"),
        ('nothing_example_1 = "x"\n', [], "is not one of the protocol"),
    ],
)
def test_examples_are_added_and_taken_out(
    tmp_path: Path, text: str, left: list[int], told: str
) -> None:
    """An empty text takes an example out with its reply; the numbers go on without a gap."""
    study = with_prompts(write_drill(tmp_path, "http://127.0.0.1:1"), own=text)
    if told:
        with pytest.raises(UsageError, match=told) as caught:
            foreseen(study)
        assert "own.toml, line" in str(caught.value)
        return
    prompts = foreseen(study).prompts
    assert [n for n in range(1, 9) if f"question_example_{n}" in prompts] == left
    assert [n for n in range(1, 9) if f"question_example_{n}_reply" in prompts] == left
