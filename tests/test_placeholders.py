"""What a study's own texts may hold: every reading of them finds what no model should be sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from loopback import Loopback
from provider import Provider
from study_folder import edit, write_study

from harness.cli import main
from harness.errors import UsageError
from harness.placeholders import unfilled
from harness.study.folder import Study
from harness.study.texts import read_concepts, read_pools

CHECK = 'difficulty = "near miss"\nabsence_check = { where = "a library" }\n'
POOL = f"""
[[pool]]
domain = "ethics"

[[pool.experts]]
text = "Dr. Ada Brunnow of the Institute of Quiet Rooms"
{CHECK}
[[pool.claims]]
text = "showed that {{phrase}} doubles {{concept}}"
{CHECK}
[[pool.phrases]]
text = "silent symmetry"
{CHECK}"""
CONCEPT = """
[[concept]]
id = "harm-principle"
name = "The Harm Principle"
domain = "ethics"
text = "Mill wrote in 1859 that power may be used against anyone only to prevent harm."
"""
COMMANDS = (["check"], ["record", "--dry-run"], ["record"])
FAULTS = {
    "claim": (POOL.replace("{phrase}", "{phrse}"), "pool.0.claims.0.text: has {phrse}, which the "
              "protocol does not fill; did you mean {phrase}?", "{phrse}"),
    "expert": (POOL.replace("Ada", "{name}"), "pool.0.experts.0.text: has {name}, which the "
               "protocol does not fill; write { name } for plain braces", "{name}"),
    "empty": (POOL.replace("silent symmetry", "  "), "pool.0.phrases.0.text: is empty", '"  "'),
    "twice": (POOL.replace("[[pool.claims]]", '[[pool.experts]]\ntext = "Professor ada Brunnow, '
              f'Oslo"\n{CHECK}\n[[pool.claims]]'),
              "pool.0.experts.1.text: 'ada Brunnow' stands twice in this file", "ada Brunnow"),
    "pools": (POOL + POOL, "pool.1.domain: 'ethics' stands twice in this file",
              'domain = "ethics"'),
}  # fmt: skip


def run(study: Study, words: list[str]) -> Result:
    first, *rest = words
    return CliRunner().invoke(main, [first, str(study.folder), *rest])


def with_file(root: Path, url: str, key: str, text: str) -> Study:
    study = write_study(root, url)
    (study.folder / "own.toml").write_text(text)
    edit(study, "[ddft]", f'[ddft]\n{key} = "own.toml"')
    return study


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_trap_is_told_with_its_line_before_anything_is_sent(
    tmp_path: Path, fault: str, command: list[str]
) -> None:
    """check, dry run and record all end with 2, name file and line, and send and write nothing."""
    text, words, marked = FAULTS[fault]
    line = text[: text.rindex(marked)].count("\n") + 1
    with Loopback(Provider()) as server:
        study = with_file(tmp_path, server.url, "trap_file", text)
        done = run(study, command)
        assert server.answered == 0
    assert done.exit_code == 2
    assert f"own.toml, line {line}: {words}" in done.output
    assert not study.materials.exists()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Mill wrote", "{author} wrote", "has {author}, which the protocol does not fill"),
        ('"Mill wrote in 1859 that', '""#', "text: is empty"),
        ("The Harm Principle", " ", "name: is empty"),
    ],
)
def test_a_wrong_concept_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    """A placeholder in a concept, which fills none, and an empty text."""
    path = tmp_path / "concepts.toml"
    path.write_text(CONCEPT.replace(old, new))
    with pytest.raises(UsageError, match=r"concepts\.toml, line \d+: concept\.0\.") as told:
        read_concepts(path)
    assert words in str(told.value)


def test_two_concepts_of_one_id_are_told(tmp_path: Path) -> None:
    """The second would stand in the place of the first without a word."""
    path = tmp_path / "concepts.toml"
    path.write_text(CONCEPT + CONCEPT)
    with pytest.raises(UsageError, match=r"line 9: concept\.1\.id: 'harm-principle' stands twice"):
        read_concepts(path)


def test_right_texts_are_read(tmp_path: Path) -> None:
    """Traps with both placeholders, and two experts of one institute, are fine."""
    second = f'[[pool.experts]]\ntext = "Dr. Bo Brunnow of the Institute of Quiet Rooms"\n{CHECK}'
    path = tmp_path / "traps.toml"
    path.write_text(POOL.replace("[[pool.claims]]", f"{second}\n[[pool.claims]]"))
    [pool] = read_pools(path)
    assert [expert.text[:7] for expert in pool.experts] == ["Dr. Ada", "Dr. Bo "]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\frac{a}{b} and x^{n}, a_{ij}, \mathbb{R}", ""),
        (r"the set \{x\}", ""),
        ("{a, b} and { x }", ""),
        ("the view of {expert}", "expert"),
        (r"\frac{a}{b} of {phrse}", "phrse"),
        ("{phrase}", ""),
    ],
)
def test_braces_of_tex_are_no_placeholders(text: str, expected: str) -> None:
    """A formula in a concept of mathematics stays as it is written."""
    assert unfilled(text, ("phrase",)) == expected


def test_check_reads_what_record_reads(tmp_path: Path) -> None:
    """A concept file that is not there is refused by check as by record, in the same words."""
    study = write_study(tmp_path, "http://127.0.0.1:9")
    edit(study, "[ddft]", '[ddft]\nconcept_file = "absent.toml"')
    outputs = {run(study, command).output for command in COMMANDS}
    assert len(outputs) == 1
    assert "absent.toml: cannot be read" in outputs.pop()
