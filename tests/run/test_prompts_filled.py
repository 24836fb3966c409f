"""Which {names} each prompt is filled with: the tables hold, for every prompt of the package."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from drilling import write_drill
from loopback import Loopback
from provider import Provider
from study_folder import edit, write_study
from test_prompt_files import with_prompts

from harness.asking.models.model import Answer, Message
from harness.asking.sources.fact_source import FOUND
from harness.asking.sources.inquiry import Window
from harness.cli import main
from harness.files import write_atomic
from harness.placeholders import PLACEHOLDER, unfilled
from harness.protocols.ddft.dialogue import placeholders as of_dialogues
from harness.protocols.depthcharge.drill import placeholders as of_drills
from harness.protocols.registry import held_cell, protocol_of
from harness.protocols.seam import NAME, YEAR, Surroundings
from harness.results import Materials, Passage, canonical
from harness.results.materials import SCHEMA
from harness.run.record import Recording
from harness.run.wiring import foreseen
from harness.study.folder import Study

MARK = re.compile(r"⟦(\w+)\|(\w+)=(\{\2\}⟧)?")
Pair = tuple[str, str]  # a prompt and a placeholder


COMMANDS = (["check"], ["record", "--dry-run"], ["record"])
MANNERS = ("able", "ignorant", "clumsy")


class Listening:
    """A model that notes what it is sent.

    Able, it says what fits; ignorant, not as the one who is examined; clumsy, at a second ask only.
    """

    def __init__(self, study: Study, manner: str) -> None:
        self.sent, self._protocol, self._manner = list[str](), protocol_of(study), manner

    def ask(
        self,
        call: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Return an answer; a clumsy subject's second is missing."""
        self.sent += [message["content"] for message in messages]
        if self._manner == "clumsy" and call == "turn-2/subject":
            return Answer("", "empty", "stop", "", (1, 1), lost=True)
        fits = self._manner == "able" or call.endswith("/ask-2")
        if self._manner == "ignorant":
            fits = not call.endswith(("/subject", "/target"))
        text = self._protocol.imagined(call.removesuffix("/ask-2"), messages, 40)
        return Answer(text if fits else "Zebras, then.", "ok", "stop", "", (1, 1))


class Page:
    """A look-up with one passage."""

    state, problem = FOUND, ""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage

    def __iter__(self) -> Iterator[Passage]:
        yield self._passage


class Library:
    """A source that has a passage about everything."""

    name = "library"

    def look_up(
        self,
        call: str,
        direction: str,
        window: Window | None,
        *,
        optional: bool = False,
    ) -> Page:
        """Return what it has."""
        words = f"{direction}: {'fact ' * 80}. In {YEAR} Professor {NAME} wrote it."
        return Page(Passage(direction, words, call))


def dialogue(root: Path, *changes: tuple[str, str]) -> Study:
    study = write_study(root, "http://127.0.0.1:1", levels="[0.5]")
    for old, new in changes:
        edit(study, old, new)
    return Study(study.folder)


def drill(root: Path, *changes: tuple[str, str], **settings: Any) -> Study:
    study = write_drill(root, "http://127.0.0.1:1", questions=2, max_depth=5, **settings)
    for old, new in changes:
        edit(study, old, new)
    return Study(study.folder)


def studies(root: Path) -> Iterator[Study]:
    """Yield studies that send every prompt between them."""
    scripted = ('interviewer = "interviewer"', 'interviewer = "scripted"')
    alone = ("levels =", 'rubrics = "separate"\njudge_reference = false\nlevels =')
    verdict = ("levels =", 'scoring = { judge-b = "verdict" }\nlevels =')
    arms = ("levels =", 'arms = ["paper", "assertive", "hedged", "accuracy_first"]\nlevels =')
    yield dialogue(root / "interviewed", arms, verdict)
    yield dialogue(root / "scripted", scripted, alone)
    unaided = ("levels =", "judge_reference = false\nlevels =")
    yield dialogue(root / "unaided", verdict, unaided)
    yield dialogue(root / "invented", ("levels =", 'trap_source = "invented"\nlevels ='))
    checked = ("max_depth =", "answerable_check = true\nmax_depth =")
    yield drill(root / "drilled", checked, passes=1)
    cloze = ('extractor = "extractor"', 'extractor = "cloze"\ndirections = "extractor"')
    yield drill(root / "cloze", cloze, passes=1, evaluator_form="verdict")


def marked(materials: Materials) -> Materials:
    """Return materials whose prompts begin with a mark for every placeholder of the protocol."""
    names = sorted(
        {name for text in materials.prompts.values() for name in PLACEHOLDER.findall(text)}
    )
    for prompt, text in materials.prompts.items():
        if "schema" not in prompt:
            marks = "".join(f"⟦{prompt}|{name}={{{name}}}⟧" for name in names)
            materials.prompts[prompt] = f"{marks} {text}"
    return materials


def sent(study: Study, manner: str) -> str:
    """Return all that the models of a study are sent, its prompts marked."""
    model = Listening(study, manner)
    around = Surroundings(
        dict.fromkeys(study.file.models, model), dict.fromkeys(study.file.sources, Library())
    )
    materials = marked(foreseen(study))
    for cell in study.cells():
        held_cell(study, cell, materials, around).run()
    return "\n".join(model.sent)


def test_each_prompt_is_filled_with_what_its_table_says(tmp_path: Path) -> None:
    """No more and no less, of every prompt that is sent, and every prompt is."""
    filled, plain = set[Pair](), set[Pair]()
    prompts = set[str]()
    for study in studies(tmp_path):
        prompts |= {name for name in foreseen(study).prompts if SCHEMA not in name}
        for manner in MANNERS:
            for prompt, name, braces in MARK.findall(sent(study, manner)):
                (plain if braces else filled).add((prompt, name))
    tables = {**of_dialogues.PLACEHOLDERS, **of_drills.PLACEHOLDERS}
    assert filled == {(prompt, name) for prompt, names in tables.items() for name in names}
    assert not filled & plain
    assert {prompt for prompt, _ in filled | plain} == prompts


def test_the_prompts_of_the_package_have_no_other_placeholder(tmp_path: Path) -> None:
    """Each is sent without braces that nothing filled."""
    for number, study in enumerate((dialogue(tmp_path), drill(tmp_path / "other"))):
        tables = (of_dialogues.PLACEHOLDERS, of_drills.PLACEHOLDERS)[number]
        for name, text in foreseen(study).prompts.items():
            assert unfilled(text, tables.get(name, ())) == "", name


def refused(study: Study, command: list[str]) -> str:
    """Return what a command says of a study that it ends with 2 for."""
    first, *options = command
    done = CliRunner().invoke(main, [first, str(study.folder), *options])
    assert done.exit_code == 2, done.output
    return done.output


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("judge_system", "has {concept}, which the protocol does not fill; write { concept } for"),
        ("judge_fabrication", "has {phrse}, which the protocol does not fill; only {concept}, "
                              "{expert} and {claim} are filled in here"),
        ("judge_again", "has {question}, which the protocol does not fill; only {problem} is"),
        ("scripted_turn_1", "has {concpt}, which the protocol does not fill; did you mean"),
    ],
)  # fmt: skip
def test_a_placeholder_that_this_prompt_is_not_filled_with_is_told(
    tmp_path: Path, name: str, words: str, command: list[str]
) -> None:
    """In check, dry run and record, with file and line, whatever other prompts are filled with.

    So it is in a file of prompts, and in a materials.json edited before anything is recorded.
    """
    placeholder = words.split(",")[0].removeprefix("has ")
    with Loopback(Provider()) as server:
        study = write_study(tmp_path / "file", server.url)
        told = refused(with_prompts(study, own=f'\n{name} = "Rate {placeholder}."\n'), command)
        assert f"own.toml, line 2: the prompt {name} {words}" in told
        assert not study.materials.exists()
        study = write_study(tmp_path / "edited", server.url)
        materials = foreseen(study)
        materials.prompts[name] += f" {placeholder}"
        write_atomic(study.materials, canonical(materials))
        lines = study.materials.read_text().split("\n")
        [line] = [n for n, text in enumerate(lines, 1) if f'"{name}":' in text]
        told = refused(study, command)
        assert f"materials.json, line {line}: prompts.{name} {words}" in told
        assert server.answered == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "{phrase}",
            "{phrse}",
            "has {phrse}, which the protocol does not fill; did you mean",
        ),
        ("Mill ", "{author} ", "concepts.0.text has {author}, which the protocol does not fill"),
    ],
)
def test_texts_of_edited_materials_are_checked_too(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    """A trap and a concept, as in files of the study."""
    study = write_study(tmp_path, "http://127.0.0.1:1")
    text = canonical(foreseen(study)).decode()
    assert old in text
    write_atomic(study.materials, text.replace(old, new, 1).encode())
    told = refused(study, ["record", "--dry-run"])
    line = text[: text.index(old)].count("\n") + 1
    assert f"materials.json, line {line}: " in told
    assert words in told


def test_a_recorded_study_goes_on_with_the_prompts_it_was_sent(tmp_path: Path) -> None:
    """What stands in the materials of finished cells was sent so: record compares, as ever."""
    with Loopback(Provider()) as server:
        study = write_study(tmp_path, server.url, levels="[0.5]")
        materials = foreseen(study)
        write_atomic(study.materials, canonical(materials))
        assert Recording(study).run().problems == []
        materials.prompts["missing_answer"] += " {phrse}"  # sent to nobody here
        write_atomic(study.materials, canonical(materials))
        assert foreseen(study).prompts == materials.prompts
