"""Wikipedia: which page becomes a passage, by a wiki that answers in the documented shapes."""

from __future__ import annotations

import pytest
from asking.lookups import Wiki, article, look_up, page
from loopback import Answer, Received

from harness.asking.sources.fact_source import FAILED, FOUND, NOT_FOUND, open_source
from harness.asking.sources.fact_source import SourceEndpoint as Endpoint
from harness.errors import UsageError
from harness.results import Passage

HEART = article("Myocardial infarction", "A myocardial infarction, or heart attack, is ...")
ENTANGLED = article("Quantum entanglement", "Quantum entanglement is the phenomenon ...")
MERCURY = article("Mercury", "Mercury may refer to: the planet, ...", type="disambiguation")


def test_a_title_is_looked_up_at_once() -> None:
    """One call; the passage has title, text, address, revision, date and licence."""
    found, calls, received = look_up(Wiki([ENTANGLED]), "wikipedia-summary", "quantum entanglement")
    assert found.state == FOUND
    assert found.passage == Passage(
        "Quantum entanglement",
        "Quantum entanglement is the phenomenon ...",
        "https://en.wikipedia.org/wiki/Quantum_entanglement",
        "1200000001",
        "2026-01-15T14:30:00Z",
        "CC BY-SA 4.0",
    )
    assert calls == ["at/summary"]
    assert received[0].path.endswith("/Quantum_entanglement")
    assert received[0].query == ""


@pytest.mark.parametrize("location", ["Myocardial_infarction", "./Myocardial_infarction"])
def test_a_redirect_is_followed(location: str) -> None:
    """The call that follows it has a name of its own."""
    wiki = Wiki([HEART], {"Heart_attack": location})
    found, calls, _ = look_up(wiki, "wikipedia-summary", "Heart attack")
    assert found.passage is not None
    assert found.passage.title == "Myocardial infarction"
    assert calls == ["at/summary", "at/summary/redirect-1"]


def test_a_circle_of_redirects_ends() -> None:
    """After three redirects the source has failed."""
    wiki = Wiki(redirects={"Heart_attack": "Heart_attack"})
    found, calls, _ = look_up(wiki, "wikipedia-summary", "Heart attack")
    assert found.state == FAILED
    assert "answered 302" in found.problem
    assert len(calls) == 4


def test_a_redirect_to_another_host_is_not_followed() -> None:
    """What is recorded comes from the source that the study names."""
    wiki = Wiki(redirects={"Heart_attack": "http://127.0.0.2:9/Heart_attack"})
    found, calls, _ = look_up(wiki, "wikipedia-summary", "Heart attack")
    assert found.state == FAILED
    assert "another host" in found.problem
    assert calls == ["at/summary"]


@pytest.mark.parametrize(
    "location",
    [
        *["http://xn--/", "http://[::1", "ftp://127.0.0.1/x", "//127.0.0.1:65536/x", "file:///x"],
        *[
            "//127.0.0.1:-1/x",
            "//127.0.0.1:99999999999/x",
            "//127.0.0.1:x/x",
            "http://\u00e9..\u00e9/",
        ],
    ],
)
def test_a_redirect_to_nowhere_is_a_failure(location: str) -> None:
    """An address that none can be is an answer that cannot be used, not a crash."""
    wiki = Wiki(redirects={"Heart_attack": location})
    found, calls, _ = look_up(wiki, "wikipedia-summary", "Heart attack")
    assert found.state == FAILED
    assert calls == ["at/summary"]


def test_an_unknown_title_is_searched_for() -> None:
    """After a 404 the best hits are read, three at most, up to the first that is relevant."""
    about_else = article("Heart of Darkness", "A novella by Joseph Conrad about a voyage.")
    wiki = Wiki(
        [HEART, about_else], hits=["Nowhere", "Heart of Darkness", HEART["title"], "Fourth"]
    )
    found, calls, _ = look_up(wiki, "wikipedia-summary", "attack of the heart, acute")
    assert found.passage is not None
    assert found.passage.title == "Myocardial infarction"
    assert calls == ["at/summary", "at/search", "at/summary-2", "at/summary-3", "at/summary-4"]


def test_no_more_than_three_hits_are_read() -> None:
    """Then there is no such fact: an answer."""
    wiki = Wiki(hits=["A", "B", "C", "D", "E"])
    found, calls, _ = look_up(wiki, "wikipedia-summary", "heart attack")
    assert found == (NOT_FOUND, None, "")
    assert calls == ["at/summary", "at/search", "at/summary-2", "at/summary-3", "at/summary-4"]


def test_no_hit_is_not_found() -> None:
    """A search without a hit is an answer too."""
    found, calls, _ = look_up(Wiki(), "wikipedia-summary", "heart attack")
    assert found.state == NOT_FOUND
    assert calls == ["at/summary", "at/search"]


def test_a_disambiguation_page_is_no_passage() -> None:
    """Its hits are looked at instead, and it is not read a second time."""
    planet = article("Mercury (planet)", "Mercury is the first planet from the Sun.")
    wiki = Wiki([MERCURY, planet], hits=["Mercury", "Mercury (planet)"])
    found, calls, _ = look_up(wiki, "wikipedia-summary", "Mercury")
    assert found.passage is not None
    assert found.passage.title == "Mercury (planet)"
    assert calls == ["at/summary", "at/search", "at/summary-2"]


@pytest.mark.parametrize("extract", ["", " \n"])
def test_an_empty_extract_is_no_passage(extract: str) -> None:
    """A page without a text is passed over."""
    wiki = Wiki([article("Heart attack", extract)], hits=["Heart attack"])
    assert look_up(wiki, "wikipedia-summary", "heart attack")[0].state == NOT_FOUND


def test_a_page_about_something_else_is_no_passage() -> None:
    """A page that shares one word of two with the direction is not what was looked up."""
    wiki = Wiki([article("Quantum mechanics", "A theory of physics.")], hits=["Quantum mechanics"])
    assert look_up(wiki, "wikipedia-summary", "quantum annealing")[0].state == NOT_FOUND


@pytest.mark.parametrize("direction", ["C# (language)", "a|b heart", "x" * 300, "<heart>"])
def test_what_is_no_title_is_searched_for_at_once(direction: str) -> None:
    """No page can have such a title, so none is asked for."""
    _, calls, _ = look_up(Wiki(), "wikipedia-summary", direction)
    assert calls == ["at/search"]


def test_a_title_that_the_server_refuses_is_searched_for() -> None:
    """400 to a title says no more than that there is no such page."""

    def picky(received: Received) -> Answer:
        return Answer(400) if "summary" in received.path else Wiki()(received)

    found, calls, _ = look_up(picky, "wikipedia-summary", "heart attack")
    assert found.state == NOT_FOUND
    assert calls == ["at/summary", "at/search"]


@pytest.mark.parametrize(
    ("direction", "path"),
    [
        ("AC/DC", "AC%2FDC"),
        ("naïve realism", "Na%C3%AFve_realism"),
        ("  what  is   this? ", "What_is_this%3F"),
        ("ἰατρός", "%E1%BC%B8%CE%B1%CF%84%CF%81%CF%8C%CF%82"),
    ],
)
def test_titles_in_paths(direction: str, path: str) -> None:
    """Underscores for spaces, the first letter large, all else percent-encoded."""
    _, _, received = look_up(Wiki(), "wikipedia-summary", direction)
    assert received[0].path == f"/api/rest_v1/page/summary/{path}"


TEXT = """Myocardial infarction is the death of heart muscle.

== Causes ==
Most infarctions come from the rupture of a plaque in a coronary artery.
Smoking is a risk.

== Treatment ==
=== Reperfusion ===
Reperfusion by balloon within 120 minutes is preferred to fibrinolysis.

== See also ==
Reperfusion of fibrinolysis by balloon

== References ==
Reperfusion, a handbook.
"""


def test_an_extract_is_the_paragraphs_that_fit() -> None:
    """Searched for, then read whole; the passage is what shares most words with the direction."""
    wiki = Wiki(hits=["Myocardial infarction"], pages=[page("Myocardial infarction", TEXT)])
    found, calls, _ = look_up(wiki, "wikipedia-extract", "balloon reperfusion")
    assert found.passage == Passage(
        "Myocardial infarction",
        "Reperfusion by balloon within 120 minutes is preferred to fibrinolysis.",
        "https://en.wikipedia.org/wiki/Myocardial_infarction",
        "1200000001",
        "2026-01-15T14:30:00Z",
        "CC BY-SA 4.0",
    )
    assert calls == ["at/search", "at/extract"]


def test_extracts_go_on_to_the_next_hit() -> None:
    """A disambiguation page, a missing page and a page about something else are passed over."""
    many = page("Heart attack", "Heart attack may be: ...", pageprops={"disambiguation": ""})
    right = page("Myocardial infarction", "A heart attack is the death of heart muscle.")
    wiki = Wiki(hits=["Heart attack", "Gone", "Myocardial infarction"], pages=[many, right])
    found, calls, _ = look_up(wiki, "wikipedia-extract", "heart attack")
    assert found.passage is not None
    assert found.passage.title == "Myocardial infarction"
    assert calls == ["at/search", "at/extract", "at/extract-2", "at/extract-3"]


def test_a_page_without_a_text_is_no_passage() -> None:
    """TextExtracts gives an empty extract for some pages."""
    wiki = Wiki(hits=["Heart attack"], pages=[page("Heart attack", "")])
    assert look_up(wiki, "wikipedia-extract", "heart attack")[0].state == NOT_FOUND


def test_wikimedia_is_told_whom_to_write_to() -> None:
    """Without a contact nothing is sent there, as its policy wants one in the User-Agent."""
    endpoint = Endpoint("wiki", "wikipedia-summary", "https://en.wikipedia.org")
    with pytest.raises(UsageError, match="'wiki': Wikimedia wants a contact"):
        open_source(endpoint, None)  # type: ignore[arg-type]
