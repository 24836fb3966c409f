"""OpenAlex: its requests and replies, and a drill that looks everything up in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from asking.lookups import CONTACT, KEY, WINDOW, endpoint, look_up
from drilling import answering, world, write_drill
from loopback import Answer, Loopback, Received, json_answer
from packing import done, unpacked
from recording.search import assert_nowhere

from harness.asking.sources.fact_source import FAILED, FOUND, NOT_FOUND, open_source
from harness.errors import UsageError
from harness.recording import cassette as cassettes
from harness.results import Passage
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.study.folder import Study

OPEN, CLOSED = "cc-by", "publisher-specific-oa"
LICENCES = (OPEN, CLOSED, None)


def inverted(text: str) -> dict[str, list[int]]:
    """Return a text as an inverted index."""
    index: dict[str, list[int]] = {}
    for place, word in enumerate(text.split()):
        index.setdefault(word, []).append(place)
    return index


def work(text: str | None, licence: str | None = OPEN, **more: Any) -> dict[str, Any]:
    """Return a work as the API does, of the fields that were selected."""
    return {
        "id": "https://openalex.org/W1",
        "display_name": "Heart attack",
        "publication_date": "2025-06-01",
        "abstract_inverted_index": None if text is None else inverted(text),
        "best_oa_location": None,
        "primary_location": {"landing_page_url": "https://doi.org/10.1/x", "license": licence},
        **more,
    }


def works(*listed: dict[str, Any]) -> Answer:
    return json_answer({"meta": {"count": len(listed)}, "results": list(listed)})


def test_a_search_is_the_documented_one() -> None:
    """Search, window, page size, contact and key are in the query; the abstract is put together."""
    text = "A heart attack is a heart that does not get blood"
    found, calls, (received,) = look_up(
        lambda _: works(work(text)), "openalex", "heart attack", WINDOW, options={"sort": "cited"}
    )
    assert calls == ["at/search"]
    assert received.path == "/works"
    assert {name: values[0] for name, values in parse_qs(received.query).items()} == {
        "search": "heart attack",
        "per-page": "5",
        "select": "id,display_name,publication_date,abstract_inverted_index,best_oa_location,"
        "primary_location",
        "sort": "cited",
        "filter": f"from_publication_date:{WINDOW.start},to_publication_date:{WINDOW.end}",
        "mailto": CONTACT.removeprefix("mailto:"),
        "api_key": KEY,
    }
    assert found.passage == Passage(
        "Heart attack", text, "https://openalex.org/W1", "", "2025-06-01", OPEN
    )


@pytest.mark.parametrize(
    ("best", "first", "licence"),
    [
        ("cc-by-sa", "other-oa", "cc-by-sa"),
        (None, "public-domain", "public domain"),
        (None, None, ""),
    ],
)
def test_the_licence_is_that_of_the_best_open_copy(
    best: str | None, first: str | None, licence: str
) -> None:
    """Or of the first location; where neither has one it is unknown."""
    listed = work("A heart attack.", first, best_oa_location={"license": best})
    found, _, _ = look_up(lambda _: works(listed), "openalex", "heart attack")
    assert found.passage is not None
    assert found.passage.licence == licence


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (works(), NOT_FOUND),
        (works(work(None)), NOT_FOUND),
        (works(work("A heart attack.", publication_date="2019-01-01")), NOT_FOUND),
        (works(work("A heart attack.")), FOUND),
        (json_answer({"error": "Invalid filter", "message": "no"}, 400), FAILED),
        (json_answer({"results": "none"}), FAILED),
    ],
    ids=["none", "no abstract", "outside the window", "found", "error", "no reply"],
)
def test_found_not_found_and_failed(answer: Answer, state: str) -> None:
    """A work without an abstract, or from outside the window, is no passage."""
    assert look_up(lambda _: answer, "openalex", "heart attack", WINDOW)[0].state == state


def test_an_option_that_it_does_not_have_is_told() -> None:
    """Before anything is sent."""
    with pytest.raises(
        UsageError, match="option 'topic'; expected one of those for openalex: sort"
    ):
        open_source(
            endpoint("openalex", "http://x", options={"topic": "a"}),
            None,  # type: ignore[arg-type]
        )


class Catalogue:
    """The simulated world, whose pages are abstracts with one of three licences each."""

    def __init__(self) -> None:
        self._world = world()
        self._models = answering(self._world)
        self.abstracts: dict[str | None, set[str]] = {licence: set() for licence in LICENCES}

    def __call__(self, received: Received) -> Answer:
        """Return a model's reply, or the works that fit a search."""
        if received.method == "POST":
            return self._models(received)
        topic = parse_qs(received.query)["search"][0]
        _, text = self._world.page(topic)
        if not text:
            return works()
        licence = LICENCES[sum(map(ord, topic)) % len(LICENCES)]
        self.abstracts[licence].add(text)
        return works(work(text, licence, display_name=topic))


@pytest.fixture
def drill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Study, Catalogue]:
    """Return a recorded drill that looks up in OpenAlex alone, with a key."""
    monkeypatch.setenv("OPENALEX_KEY", KEY)
    catalogue = Catalogue()
    with Loopback(catalogue) as server:
        study = write_drill(tmp_path, server.url, max_depth=5, passes=1)
        file = study.folder / "study.toml"
        text = file.read_text()
        for kind in ("wikipedia-summary", "searxng"):
            entry = f'kind = "openalex"\ncontact = "{CONTACT}"\napi_key_env = "OPENALEX_KEY"'
            text = text.replace(f'kind = "{kind}"', entry)
        file.write_text(text)
        study = Study(study.folder)
        assert Recording(study).run().problems == []
    return study, catalogue


def test_recorded_and_replayed(drill: tuple[Study, Catalogue], tmp_path: Path) -> None:
    """Without key and network; the key is in no file; the newest tier is searched by date."""
    study, _ = drill
    assert_nowhere(tmp_path, KEY)
    assert replay(study, verify_checksums=True).ok
    filters = [
        interaction.request.uri
        for cell in study.cells()
        for interaction in cassettes.load(study.cassette(cell))
        if "from_publication_date" in interaction.request.uri
    ]
    assert filters


def test_closed_abstracts_are_left_out_and_every_licence_is_named(
    drill: tuple[Study, Catalogue], tmp_path: Path
) -> None:
    """--drop-bodies: unknown is not open; LICENCES.md lists all that there was."""
    study, catalogue = drill
    done("pack", study.folder, "-o", tmp_path / "x.tar.zst", "--drop-bodies")
    inside = unpacked(tmp_path / "x.tar.zst")
    kept = {
        json.dumps(listed["abstract_inverted_index"])
        for path in (inside / "cassettes" / "drill").glob("*--*.json")
        for interaction in cassettes.load(path)
        if "/works" in interaction.request.uri and interaction.body_bytes
        for listed in json.loads(interaction.body_bytes)["results"]
    }
    for licence, abstracts in catalogue.abstracts.items():
        assert abstracts
        assert {json.dumps(inverted(text)) in kept for text in abstracts} == {licence == OPEN}
    paper = (inside / "LICENCES.md").read_text("utf-8")
    for licence in (OPEN, CLOSED, "unknown"):
        assert f"| wiki | {licence} |" in paper
