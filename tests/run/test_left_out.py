"""A bundle without what may not be handed on says what is gone, and what can still be checked."""

from __future__ import annotations

import contextlib
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from packing import CLOSED, done, harness, unpacked
from provider import Provider
from study_text import study_text

from harness.bundle.archive import packed, seal
from harness.errors import Blocked
from harness.protocols.ddft.dialogue.dialogue import Dialogue
from harness.protocols.ddft.study_table import ddft_plan
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.run.record import Recording
from harness.study.folder import Study

PAPERS = ("README.md", "APPENDIX.md")


def lacking(top: Path) -> list[dict[str, Any]]:
    bodies: list[dict[str, Any]] = json.loads((top / "LEFT-OUT.json").read_text())["bodies"]
    return bodies


def test_passages_that_are_not_open_are_left_out(drill: Study, tmp_path: Path) -> None:
    """No word of them is in any file; what lacks one is named, and the rest replays."""
    bundle = tmp_path / "d.tar.zst"
    said = done("pack", drill.folder, "-o", bundle, "--drop-bodies")
    top = unpacked(bundle)
    bodies = lacking(top)
    cells = {body["cell"] for body in bodies}
    assert 0 < len(cells) <= 8
    assert all(f"{cell}: " in said for cell in cells)
    assert any(CLOSED in body["why"] for body in bodies if body["part"] == "answer")
    assert any(body["part"] == "request" for body in bodies)
    codes = {code for cell in drill.cells() for code in _closed_texts(drill, cell)}
    everything = b"".join(path.read_bytes() for path in top.rglob("*") if path.is_file())
    assert codes
    assert not [code for code in codes if code.encode() in everything]
    assert CLOSED in (top / "LICENCES.md").read_text()
    assert "CC BY-SA 4.0" in (top / "LICENCES.md").read_text()
    result = harness("replay", bundle)
    assert result.exit_code == 3
    assert f"cells {8 - len(cells)}/8" in result.output
    assert "left out" in result.output
    if len(cells) < 8:
        assert "numbers identical" in result.output


def _closed_texts(study: Study, cell: Any) -> set[str]:
    """Give the sentences of the pages that are not open, as the source sent them."""
    found = set()
    for kept in cassettes.load(study.cassette(cell)):
        if kept.request.method == "GET" and CLOSED.encode() in kept.body_bytes:
            found.add(json.loads(kept.body_bytes)["extract"])
    return found


def test_what_was_left_out_can_be_compared(drill: Study, tmp_path: Path) -> None:
    """Sizes and sums of LEFT-OUT.json are those of the bodies in the whole recording."""
    import hashlib

    bundle = tmp_path / "d.tar.zst"
    done("pack", drill.folder, "-o", bundle, "--drop-bodies")
    [body, *_] = [one for one in lacking(unpacked(bundle)) if one["part"] == "answer"]
    [cell] = [cell for cell in drill.cells() if cell.name == body["cell"]]
    kept = cassettes.load(drill.cassette(cell)).get(body["call"], 0)
    assert kept is not None
    assert len(kept.body_bytes) == body["bytes"]
    assert hashlib.sha256(kept.body_bytes).hexdigest() == body["sha256"]


def test_a_models_answers_can_be_left_out(recorded: Path, tmp_path: Path) -> None:
    """Its own cells lose its words and every request; the other subject's replay."""
    study = Study(recorded / "cassettes/small")
    bundle = tmp_path / "d.tar.zst"
    done("pack", "small", "-o", bundle, "--root", recorded, "--drop", "subject-a")
    top = unpacked(bundle)
    everything = b"".join(path.read_bytes() for path in top.rglob("*") if path.is_file())
    for cell in ddft_plan(study).cells():
        kept = cassettes.load(study.cassette(cell)).get("turn-1/subject", 0)
        assert kept is not None
        words = json.loads(kept.body_bytes)["choices"][0]["message"]["content"]
        assert (words.encode() in everything) == (cell.subject == "subject-b")
    result = harness("replay", bundle)
    assert result.exit_code == 3
    assert "cells 3/6" in result.output
    assert "numbers identical in 3 of 6 cells" in result.output
    assert "words identical in 3 of 6 cells" in result.output
    assert harness("pack", "small", "-o", bundle, "--root", recorded, "--drop", "x").exit_code == 2


def test_what_stays_of_a_model_that_is_left_out_is_said(recorded: Path, tmp_path: Path) -> None:
    """Others may quote it: in the help, where it is packed, in the README and in LICENCES.md."""
    bundle = tmp_path / "d.tar.zst"
    words = ("pack", "small", "-o", bundle, "--root", recorded)
    assert "of other models stay, and may quote subject-a" in done(*words, "--drop", "subject-a")
    assert "answers of other models stay and may quote it" in " ".join(
        done("pack", "--help").split()
    )
    top = unpacked(bundle)
    for name in ("README.md", "LICENCES.md"):
        text = " ".join((top / name).read_text().split())
        assert "The answers of `subject-a` are left out" in text
        assert "The answers of the other models stay" in text
        assert "may quote or retell" in text
    assert json.loads((top / "LEFT-OUT.json").read_text())["models"] == ["subject-a"]
    done(*words[:3], tmp_path / "whole.tar.zst", *words[4:])
    assert "may quote" not in (unpacked(tmp_path / "whole.tar.zst") / "LICENCES.md").read_text()


def test_the_papers_claim_only_what_a_replay_of_the_bundle_checks(
    recorded: Path, tmp_path: Path
) -> None:
    """Half of the cells replay, or none: so many calls, and no word of a whole results.json."""
    whole = ("pack", "small", "--root", recorded, "-o")
    for dropped, cells in ((("subject-a",), 3), (("subject-a", "subject-b"), 0)):
        bundle = tmp_path / f"{cells}.tar.zst"
        done(*whole, bundle, *(word for name in dropped for word in ("--drop", name)))
        top = unpacked(bundle)
        [verdict] = json.loads(harness("replay", bundle, "--json").stdout)
        papers = {name: " ".join((top / name).read_text().split()) for name in PAPERS}
        said = f"calls | {verdict['matched']} are replayed, in {cells} cells; none is sent; "
        assert said in papers["APPENDIX.md"]
        assert f"in {6 - cells} cells that lack bodies, are not replayed" in papers["APPENDIX.md"]
        assert f"{cells} of its 6 cells can be replayed" in papers["README.md"]
        for text in papers.values():
            assert "same to the byte" not in text
            assert "every number in it is computed anew" not in text
            assert ("numbers identical in 3 of 6 cells" in text) == bool(cells)
            assert ("numbers not compared" in text) == (not cells)
    done(*whole, tmp_path / "all.tar.zst")
    assert "same to the byte" in (unpacked(tmp_path / "all.tar.zst") / "APPENDIX.md").read_text()


def test_another_name_of_a_model_that_is_left_out_is_named(tmp_path: Path) -> None:
    """The same model at the same address: that its answers stay is said where it is packed."""
    with Loopback(Provider()) as server:
        url = f"{server.url}/v1"
        text = study_text(url, subjects=("alias-a", "alias-b", "third"), levels="[0.0]")
        folder = tmp_path / "cassettes/small"
        folder.mkdir(parents=True)
        (folder / "study.toml").write_text(text.replace('model = "alias-b"', 'model = "alias-a"'))
        assert Recording(Study(folder)).run().problems == []
    words = "alias-b is the same model as alias-a; its answers stay"
    bundle = tmp_path / "b.tar.zst"
    assert words in done("pack", folder, "-o", bundle, "--drop", "alias-a")
    top = unpacked(bundle)
    for name in ("README.md", "LICENCES.md"):
        assert words in (top / name).read_text()
    other = done("pack", folder, "-o", tmp_path / "c.tar.zst", "--drop", "third")
    assert "same model" not in other
    both = ("--drop", "alias-a", "--drop", "alias-b")
    assert "same model" not in done("pack", folder, "-o", tmp_path / "d.tar.zst", *both)


def test_a_blocked_attempt_fails_the_replay_of_a_cut_bundle(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does of a whole one: three cells that try, exit 1 and not 3."""
    bundle = tmp_path / "d.tar.zst"
    done("pack", "small", "-o", bundle, "--root", recorded, "--drop", "subject-a")
    held = Dialogue.run

    def leaking(self: Dialogue) -> Any:
        with contextlib.suppress(Blocked):
            socket.create_connection(("127.0.0.1", 9))
        return held(self)

    monkeypatch.setattr(Dialogue, "run", leaking)
    result = harness("replay", bundle)
    assert result.exit_code == 1, result.output
    assert "FAILED" in result.output
    assert "network: 3 attempts were blocked" in result.output
    assert "numbers identical" in result.output


def test_a_damaged_bundle_with_bodies_left_out_fails(recorded: Path, tmp_path: Path) -> None:
    """Leaving out is no cover: a changed answer among what is there is exit 1."""
    bundle = tmp_path / "d.tar.zst"
    done("pack", "small", "-o", bundle, "--root", recorded, "--drop", "subject-a")
    top = unpacked(bundle)
    path = next((top / "cassettes/small").glob("subject-b*"))
    kept = cassettes.load(path)
    for one in kept:
        words = one.response.body["string"]
        one.response.body["string"] = words.replace('\\"far\\": 0.', '\\"far\\": 0.0')
    kept.save(path)
    checksums.write_manifests(top, top / "cassettes/small")
    seal(top)
    bundle.write_bytes(packed(top, "small"))
    result = harness("replay", bundle)
    assert result.exit_code == 1, result.output
    assert "FAILED" in result.output
    assert "numbers different" in result.output
