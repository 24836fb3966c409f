"""The page: what models say does nothing in it, it loads nothing, and it is always the same."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from report import hostile
from report.reading import Page, texts

from harness.cli import main
from harness.protocols.page import plain_page
from harness.protocols.registry import protocol_of
from harness.protocols.tables import tables_of
from harness.report.page import article
from harness.report.page import page as page_of_studies
from harness.report.write import replayed_study
from harness.run.verdict import replayed
from harness.study.folder import Study

PACKAGE = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def harmful(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return hostile.hostile_study(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def drill(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return hostile.drill_study(tmp_path_factory.mktemp("drill"))


@pytest.fixture(scope="module")
def page(harmful: Study, drill: Study, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """One page about both."""
    out = tmp_path_factory.mktemp("page") / "report.html"
    done = command(out, harmful, drill)
    assert done.exit_code == 0, done.output
    return out.read_bytes()


def command(out: Path, *studies: Study, options: tuple[str, ...] = ()) -> Result:
    names = [str(study.folder) for study in studies]
    return CliRunner().invoke(main, ["report", *names, "-o", str(out), *options])


def test_where_a_page_cannot_go_is_said_at_once(harmful: Study, tmp_path: Path) -> None:
    """Into no folder that is not there, and into no study's, whose files are all covered."""
    done = command(tmp_path / "nowhere" / "report.html", harmful)
    assert (done.exit_code, "there is no folder" in done.output) == (2, True)
    before = sorted(harmful.folder.iterdir())
    done = command(harmful.folder / "report.html", harmful)
    assert (done.exit_code, "fails its checksums" in done.output) == (2, True)
    assert sorted(harmful.folder.iterdir()) == before
    done = command(tmp_path, harmful)
    assert (done.exit_code, "is a directory" in done.output) == (2, True)
    (tmp_path / "file").touch()
    pictures = ("--png", str(tmp_path / "file" / "pictures"))
    done = command(tmp_path / "report.html", harmful, options=pictures)
    assert (done.exit_code, "cannot be written" in done.output) == (2, True)


def test_what_models_say_is_never_markup(page: bytes) -> None:
    """No element, attribute or script comes from a model or from an endpoint's name for itself."""
    document = Page(page)
    assert not document.named("img", "iframe", "object", "embed", "link", "base", "form")
    assert len(document.named("h1")) == 2  # a study's title each
    assert len(document.named("script")) == 3  # two with data, one that runs
    assert {element.attributes["type"] for element in document.named("script")[:2]} == {
        "application/json"
    }
    attributes = {name for element in document.elements for name in element.attributes}
    assert not [name for name in attributes if name.startswith("on") or name == "style"]
    assert hostile.SERVED.split("\u202e")[0] in document.text
    assert b"window.harmed = true</script>" not in page


def test_what_models_say_is_whole(page: bytes) -> None:
    """Every hostile word is in the data as it was said, and no character of it can end a script."""
    document = Page(page)
    blocks_of_text = texts(document.browsers[0])
    assert sum(hostile.WORDS in text for text in blocks_of_text) == 10
    assert sum(hostile.REVERSED in text for text in blocks_of_text) >= 10
    blocks = re.findall(rb'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    for block in blocks:
        assert not re.search(rb"[<>&\x00-\x1f\x7f-\xff]", block)


def test_the_script_writes_text_only(page: bytes) -> None:
    """Nothing in the script can make markup or code of a string."""
    script = Page(page).script
    for way in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval", "Function"):
        assert way not in script


def test_the_policy_allows_this_style_and_this_script_alone(page: bytes) -> None:
    """The Content-Security-Policy names the hash of each, and nothing else may load or run."""
    document = Page(page)
    (policy,) = [
        element.attributes["content"]
        for element in document.named("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    directives = dict(directive.strip().split(" ", 1) for directive in policy.split(";"))
    (style,) = document.styles
    assert directives["default-src"] == "'none'"
    assert directives["style-src"] == f"'{hashed(style)}'"
    assert directives["script-src"] == f"'{hashed(document.script)}'"


def hashed(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def test_nothing_is_loaded(page: bytes) -> None:
    """Every address in an attribute is a place in the page itself; the style loads nothing."""
    document = Page(page)
    for element in document.elements:
        for name in ("src", "href", "srcset", "action", "data", "poster", "xlink:href"):
            assert element.attributes.get(name, "#").startswith("#"), element
    assert not re.search(r"url\(|@import", document.styles[0])
    targets = {
        element.attributes["id"] for element in document.elements if "id" in element.attributes
    }
    for element in document.named("a"):
        assert element.attributes["href"][1:] in targets


@pytest.mark.parametrize("seed", ["1", "20000"])
def test_two_processes_make_the_same_bytes(
    page: bytes, harmful: Study, drill: Study, tmp_path: Path, seed: str
) -> None:
    """Another process, hash seed, time zone, locale, folder and matplotlibrc change no byte."""
    (tmp_path / "matplotlibrc").write_text("xtick.major.size: 20\nsvg.fonttype: path\n")
    surroundings = {
        **os.environ,
        "PYTHONHASHSEED": seed,
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
        "MATPLOTLIBRC": str(tmp_path),
    }
    out = tmp_path / seed / "other.html"
    out.parent.mkdir()
    words = ["report", str(harmful.folder), str(drill.folder), "-o", str(out)]
    words += ["--png", str(out.parent)]
    subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=PACKAGE,
        env=surroundings,
        check=True,
        capture_output=True,
    )
    assert out.read_bytes() == page
    pictures = sorted(path.name for path in out.parent.glob("*.png"))
    assert "small--degradation-far.png" in pictures
    assert "drill--survival-medicine.png" in pictures
    assert all(path.read_bytes()[1:4] == b"PNG" for path in out.parent.glob("*.png"))


def test_both_protocols_have_all_their_parts(page: bytes, harmful: Study, drill: Study) -> None:
    """Verdict, fingerprint, what was run, results, figures, coverage, limits, transcripts."""
    document = Page(page)
    ids = {element.attributes.get("id") for element in document.elements}
    sections = ("run", "results", "figures", "study", "coverage", "transcripts")
    assert {f"{name}-{section}" for name in ("small", "drill") for section in sections} <= ids
    assert "small-jury" in ids
    assert document.words.count("What this study does not prove") == 2
    for words in (
        "OK checksums ok, cells 2/2",
        "OK checksums ok, cells 4/4",
        "relative to these judges: judge-a, judge-b, judge-c",
        "no human validation",
        "Power: ",
        "Krippendorff's alpha",
        "Each judge left out",
        "What the missing judgements could change",
        "not that the recording is honest",
    ):
        assert words in document.words
    for study in (harmful, drill):
        manifest = (study.root / "checksums" / f"{study.name}.md5").read_bytes()
        assert hashlib.md5(manifest).hexdigest() in document.text


def test_every_figure_is_there(page: bytes) -> None:
    """Each figure stands beside its numbers; what has no point to show is left out."""
    ids = {element.attributes.get("id") or "" for element in Page(page).named("figure")}
    assert ids == {
        "figure-degradation-far",
        "figure-degradation-sas",
        "figure-far-variance",
        "figure-danger-zone",
        "figure-survival-medicine",
        "figure-survival-ancient-rome",
        "figure-evd-by-domain",
        "figure-accuracy-by-tier",
        "figure-errors-by-type",
    }


def test_every_call_is_at_its_line(page: bytes, harmful: Study, drill: Study) -> None:
    """Every recorded call is in the browser once, with the line of its cassette it stands in."""
    for browser, study in zip(Page(page).browsers, (harmful, drill), strict=True):
        seen: dict[str, list[int]] = {}
        for entry in browser["entries"]:
            lines = (study.root / entry["file"]).read_bytes().split(b"\n")
            for step in entry["steps"]:
                for name, line, recorded_at, tries in step["calls"]:
                    assert f'"call":"{name}"'.encode() in lines[line - 1]
                    assert recorded_at.encode() in lines[line - 1]
                    assert tries == 1
                    seen.setdefault(entry["file"], []).append(line)
        for file, numbers in seen.items():
            calls = (study.root / file).read_bytes().count(b"\n") - 2
            assert sorted(numbers) == list(range(2, 2 + calls))


def test_calls_of_a_slot_dealt_anew_are_its_own(page: bytes) -> None:
    """A question's second deal has its own calls, and the first none of them."""
    _, drill = Page(page).browsers
    anew = 0
    for entry in drill["entries"]:
        names = [name for name, *_ in entry["steps"][0]["calls"]]
        assert names
        deal = re.search(r"deal (\d+)", entry["name"][-1])
        anew += deal is not None
        marker = f"/deal-{deal[1]}/" if deal else None
        if entry["name"][-1] != "the run itself":
            assert all((marker in name) if marker else ("/deal-" not in name) for name in names)
    assert anew


def test_what_can_be_filtered(page: bytes) -> None:
    """Model, concept or domain, level or depth, turn, verdict; scores; every value occurs."""
    ddft, drill = Page(page).browsers
    names = [facet["name"] for facet in ddft["facets"]]
    assert names == ["model", "concept", "level c", "turn", "verdict"]
    assert ddft["scores"] == ["FAR", "SAS"]
    names = [facet["name"] for facet in drill["facets"]]
    assert names == ["model", "domain", "depth", "tier", "verdict", "error", "source"]
    for browser in (ddft, drill):
        for facet in browser["facets"]:
            occurring = set()
            for entry in browser["entries"]:
                for step in entry["steps"]:
                    values = step["facets"].get(facet["name"], entry["facets"].get(facet["name"]))
                    occurring |= {values} if isinstance(values, str) else set(values)
            assert occurring == set(facet["values"])


def test_a_served_model_that_differs_stands_out(page: bytes) -> None:
    """A name that the endpoint gave and nobody asked for is marked."""
    assert "(differs)" in Page(page).text


def test_a_changed_recording_has_no_page_but_an_unverified_one(
    recorded: Path, tmp_path: Path
) -> None:
    """A cassette that is not the manifest's is named; a page of it says that it is unverified."""
    study = Study(recorded / "cassettes/small")
    path = study.cassette(study.cells()[0])
    path.write_text(re.sub(r'"elapsed":[0-9.]+', '"elapsed":9.5', path.read_text()), newline="")
    done = command(tmp_path / "page.html", study)
    assert done.exit_code == 1
    assert f"{path.name}: changed" in done.output
    assert not (tmp_path / "page.html").exists()
    done = command(tmp_path / "page.html", study, options=("--no-verify-checksums",))
    assert done.exit_code == 0
    assert "unverified" in Page((tmp_path / "page.html").read_bytes()).words


def test_a_recording_that_does_not_replay_has_no_page(recorded: Path, tmp_path: Path) -> None:
    """There is nothing to show: an error that names the miss, and no file."""
    study = Study(recorded / "cassettes/small")
    text = study.materials.read_text()
    study.materials.write_text(text.replace("Write the first question", "Write a first question"))
    done = command(tmp_path / "page.html", study, options=("--no-verify-checksums",))
    assert done.exit_code == 1
    assert "first question" in done.output
    assert not (tmp_path / "page.html").exists()


def test_an_unfinished_recording_is_shown_as_far_as_it_is(recorded: Path, tmp_path: Path) -> None:
    """INCOMPLETE on top, exit code 3, the missing cells by name, null metrics with the reason."""
    study = Study(recorded / "cassettes/small")
    gone = study.cells()[-1]
    study.cassette(gone).unlink()
    study.results.unlink()
    shutil.rmtree(study.root / "checksums")
    done = command(tmp_path / "page.html", study)
    assert done.exit_code == 3, done.output
    words = Page((tmp_path / "page.html").read_bytes()).words
    assert "INCOMPLETE checksums none (unverified), cells 5/6" in words
    assert "incomplete: 2 of 3 cells" in words
    assert gone.name in words


def test_findings_come_first_and_words_are_explained(page: bytes) -> None:
    """Sentences before the limits and every table, in each study; a glossary of each protocol."""
    document = Page(page)
    ids = [element.attributes.get("id", "") for element in document.elements]
    for study in ("small", "drill"):
        places = [ids.index(f"{study}-{step}") for step in ("findings", "limits", "words", "run")]
        assert places == sorted(places)
    assert "How far the judges agree is undefined: every judge is judge-a" in document.words
    assert "EVD (Expected Valid Depth)" in document.words
    assert len(document.named("dl")) == 2
    assert "Comprehension Integrity (not a confidence interval)" in document.words


def test_every_entry_and_part_has_a_link_of_its_own(page: bytes) -> None:
    """No two places of a study have one address, and a turn is named for itself."""
    for browser in Page(page).browsers:
        assert browser["legend"]
        anchors = [
            "/".join(filter(None, (entry["anchor"], step["anchor"])))
            for entry in browser["entries"]
            for step in entry["steps"]
        ]
        assert len(set(anchors)) == len(anchors)
        assert all(entry["anchor"].split("/")[0] == entry["cell"] for entry in browser["entries"])
    [turn, *_] = Page(page).browsers[0]["entries"][0]["steps"]
    assert turn["anchor"] == "turn-1"


def test_no_name_stands_for_two_places_and_every_region_is_told_apart(page: bytes) -> None:
    """Ids and the labels of regions occur once, so that links and screen readers find them."""
    document = Page(page)
    ids = [element.attributes["id"] for element in document.elements if "id" in element.attributes]
    assert len(set(ids)) == len(ids)
    regions = document.named("nav", "section") + [
        element for element in document.named("div") if element.attributes.get("role") == "region"
    ]
    labels = [label for element in regions if (label := element.attributes.get("aria-label"))]
    assert len(set(labels)) == len(labels)
    assert len(document.named("main")) == 1


def test_numbers_stand_to_the_right_and_none_is_null(page: bytes) -> None:
    """Cells of number columns have a class of their own; what is undefined says so, not "null"."""
    document = Page(page)
    assert [cell for cell in document.named("td") if cell.attributes.get("class") == "number"]
    assert "null" not in document.words


def test_a_protocol_that_brings_no_page_has_a_plain_one(harmful: Study) -> None:
    """Every text of every cell, its calls, and all its tables; nothing of what it did not bring."""
    shown_study = replayed_study(harmful, replayed(harmful))
    plain = plain_page("ddft", protocol_of(harmful).words, shown_study)
    tables = tables_of(harmful, shown_study.results)
    document = Page(page_of_studies([article(shown_study, plain, tables, [])]))
    [browser] = document.browsers
    assert [entry["cell"] for entry in browser["entries"]] == shown_study.cells
    assert sum(hostile.WORDS in text for text in texts(browser)) == 10
    headings = {heading for heading in document.words.split() if heading in ("Findings", "Figures")}
    assert headings == set()
    assert all(table.title in document.words for table in tables)
