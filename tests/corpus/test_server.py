"""The corpus over real HTTP: the documented shapes, our own adapters, and the command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from asking.lookups import WINDOW, Found, endpoint, first
from click.testing import CliRunner

from harness.asking.sources.fact_source import FOUND, NOT_FOUND, open_source
from harness.cli import main
from harness.corpus.entries import Entry, read_corpus
from harness.corpus.index import Index, Scope, expression
from harness.corpus.server import CorpusServer
from harness.errors import UsageError
from harness.results import Passage

ENTRIES = [
    Entry(
        "Beta blockers in heart failure",
        "Bisoprolol lowered mortality in chronic heart failure.",
        "Medicine",
        "PROFESSIONAL",
        "CIBIS-II, Lancet 1999;353:9",
        "https://doi.org/10.1016/S0140-6736(98)11181-9",
        "1999-01-02",
        "CC0-1.0",
    ),
    Entry("Heart failure", "The heart pumps too little.", "Medicine", "COMMON",
          "A book", "", "2001"),
    Entry("Heart failure in 2025", "A trial of heart failure.", "Medicine", "CUTTING_EDGE",
          "A trial", "", "2025-05-06"),
    Entry("AC/DC & \"Ärzte\"", "A band of doctors.", "Ancient Rome", "COMMON", "A record"),
    Entry("Twin b", "Romulus had a twin.", "Ancient Rome", "COMMON", "Livy 1.4"),
    Entry("Twin a", "Romulus had a twin.", "Ancient Rome", "COMMON", "Livy 1.4"),
]  # fmt: skip


CLIENT = httpx.Client(trust_env=False)


@contextmanager
def served(entries: list[Entry]) -> Iterator[str]:
    with CorpusServer(Index(entries), 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(ENTRIES) as address:
        yield address


def get(url: str) -> httpx.Response:
    return CLIENT.get(url)


def look_up(url: str, kind: str, direction: str, window: Any = None, **more: Any) -> Found:
    with httpx.HTTPTransport() as transport:
        source = open_source(endpoint(kind, url, **more), transport)
        return first(source.look_up("at", direction, window))


# --- the shapes ---


def test_a_summary(url: str) -> None:
    """All that Specs/Summary/1.3.0 names, the citation's address as the page."""
    response = get(f"{url}/api/rest_v1/page/summary/Beta_blockers_in_heart_failure")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/json")
    summary = response.json()
    assert re.fullmatch(r"\d+", summary.pop("revision"))
    assert re.fullmatch(r"[0-9a-f-]{36}", summary.pop("tid"))
    entry = ENTRIES[0]
    assert summary == {
        "type": "standard",
        "title": entry.title,
        "displaytitle": entry.title,
        "namespace": {"id": 0, "text": ""},
        "titles": {
            "canonical": "Beta_blockers_in_heart_failure",
            "normalized": entry.title,
            "display": entry.title,
        },
        "pageid": 1,
        "lang": "en",
        "dir": "ltr",
        "timestamp": "1999-01-02T00:00:00Z",
        "description": entry.citation,
        "content_urls": {"desktop": {"page": entry.url}, "mobile": {"page": entry.url}},
        "extract": entry.text,
        "license": {"title": "CC0-1.0"},
    }


@pytest.mark.parametrize(
    "title", ["heart_failure", "Heart%20failure", "Heart_Failure", "_heart__failure"]
)
def test_another_spelling_of_a_title_is_a_redirect(url: str, title: str) -> None:
    """302 to the title with a large first letter and underscores."""
    response = get(f"{url}/api/rest_v1/page/summary/{title}")
    assert (response.status_code, response.headers["location"]) == (302, "Heart_failure")
    assert CLIENT.get(response.url, follow_redirects=True).status_code == 200


def test_an_unknown_title(url: str) -> None:
    """404 with the problem that Wikimedia's API answers."""
    response = get(f"{url}/api/rest_v1/page/summary/Nothing")
    assert response.status_code == 404
    assert response.json()["type"] == "https://mediawiki.org/wiki/HyperSwitch/errors/not_found"
    assert get(f"{url}/anything/else").status_code == 404


def api(url: str, **asked: str) -> httpx.Response:
    common = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
    return CLIENT.get(f"{url}/w/api.php", params={**common, **asked})


def test_a_search_of_the_action_api(url: str) -> None:
    """Hits in order, as many as are asked for."""
    found = api(url, list="search", srsearch="heart failure", srlimit="2").json()
    assert found["batchcomplete"] is True
    assert found["query"]["searchinfo"] == {"totalhits": 2}
    titles = [hit["title"] for hit in found["query"]["search"]]
    assert titles == ["Heart failure", "Heart failure in 2025"]
    assert found["query"]["search"][1]["timestamp"] == "2025-05-06T00:00:00Z"


def test_pages_of_the_action_api(url: str) -> None:
    """Extract, revision and address of each title; a missing one says so."""
    props = "extracts|info|revisions|pageprops"
    asked = api(url, titles="heart failure|Nothing", prop=props, redirects="1").json()["query"]
    assert asked["normalized"] == [
        {"fromencoded": False, "from": "heart failure", "to": "Heart failure"}
    ]
    page, missing = asked["pages"]
    assert page["extract"] == "The heart pumps too little."
    assert page["fullurl"] == f"{url}/wiki/Heart_failure"
    assert page["revisions"] == [{"revid": page["lastrevid"], "timestamp": "2001"}]
    assert missing == {"ns": 0, "title": "Nothing", "missing": True}
    (short,) = api(url, titles="Heart failure", prop="extracts", exchars="9").json()["query"][
        "pages"
    ]
    assert short["extract"] == "The heart..."
    assert "fullurl" not in short


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"action": "edit"}, "badvalue"),
        ({"formatversion": "1"}, "badvalue"),
        ({"list": "allpages"}, "badvalue"),
        ({"list": "search"}, "missingparam"),
    ],
)
def test_errors_of_the_action_api(url: str, asked: dict[str, str], code: str) -> None:
    """Status 200, the code in head and body."""
    response = api(url, **asked)
    assert response.status_code == 200
    assert response.headers["mediawiki-api-error"] == code
    assert response.json()["error"]["code"] == code


def searched(url: str, **asked: str) -> list[dict[str, Any]]:
    response = CLIENT.get(f"{url}/search", params={"format": "json", **asked})
    found: list[dict[str, Any]] = response.json()["results"]
    return found


def test_a_search_as_searxng_answers(url: str) -> None:
    """Address, title, content, engine, category, date and score of each result, best first."""
    results = searched(url, q="heart failure")
    assert [one["title"] for one in results] == [
        "Heart failure",
        "Heart failure in 2025",
        "Beta blockers in heart failure",
    ]
    assert results[0]["score"] > results[1]["score"] > results[2]["score"] > 0
    best = results[2]
    assert (best["url"], best["content"]) == (ENTRIES[0].url, ENTRIES[0].text)
    assert (best["engine"], best["engines"]) == ("medicine", ["medicine"])
    assert (best["category"], best["publishedDate"]) == ("PROFESSIONAL", "1999-01-02T00:00:00Z")
    assert results[0]["url"] == f"{url}/wiki/Heart_failure"
    assert (
        get(results[0]["url"]).text
        == "Heart failure\n\nThe heart pumps too little.\n\nA book\n\n2001\n"
    )


def test_a_search_needs_words_and_json(url: str) -> None:
    """As SearXNG: 400 without a query, 403 for a format that is not set up."""
    assert get(f"{url}/search?format=json").status_code == 400
    assert get(f"{url}/search?q=heart").status_code == 403


@pytest.mark.parametrize(
    ("path", "asked", "titles"),
    [
        ("", {"categories": "COMMON"}, ["Heart failure"]),
        ("", {"categories": "COMMON,CUTTING_EDGE"}, ["Heart failure", "Heart failure in 2025"]),
        ("", {"categories": "SPECIALIST"}, []),
        ("", {"engines": "ancient-rome"}, []),
        ("", {"categories": "general", "engines": "wikipedia"}, None),
        ("/COMMON", {}, ["Heart failure"]),
        ("/medicine/PROFESSIONAL", {}, ["Beta blockers in heart failure"]),
        ("/PROFESSIONAL", {"categories": "COMMON"}, ["Heart failure"]),
        ("/ancient-rome", {}, []),
    ],
)
def test_what_is_searched_can_be_narrowed(
    url: str, path: str, asked: dict[str, str], titles: list[str] | None
) -> None:
    """By tiers as categories, by domains as engines, or by both in the address."""
    found = [one["title"] for one in searched(f"{url}{path}", q="heart failure", **asked)]
    assert found == titles if titles is not None else len(found) == 3


def test_an_address_narrows_summaries_and_the_action_api(url: str) -> None:
    """A page of another tier is not there; a redirect stays within."""
    path = "api/rest_v1/page/summary"
    assert get(f"{url}/COMMON/{path}/Heart_failure").status_code == 200
    assert get(f"{url}/SPECIALIST/{path}/Heart_failure").status_code == 404
    assert get(f"{url}/COMMON/{path}/heart_failure").headers["location"] == "Heart_failure"
    found = api(f"{url}/COMMON", list="search", srsearch="heart").json()["query"]["search"]
    assert [hit["title"] for hit in found] == ["Heart failure"]


# --- the index ---


HOSTILE = [
    'heart" OR "failure',
    "heart*",
    "title:heart",
    "NEAR(heart failure)",
    "heart AND NOT failure OR",
    "-heart ^failure {a b} : + ( ) [ ]",
    "'; DROP TABLE entry; --",
    "heart\x00failure",
    "“heart” – ‘failure’…",
    "%_\\",
    "heart " * 5000,
    "\ud800",
]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_no_query_is_an_error(query: str) -> None:
    """Whatever a model writes is words to look for, never a language."""
    index = Index(ENTRIES)
    found = index.search(query, Scope(), 10)
    assert bool(found) == ("heart" in query)


def test_words_of_the_expression() -> None:
    """Each word once and quoted, small words only where there is nothing else."""
    assert expression("The heart of the Heart OR lung") == '"heart" OR "lung"'
    assert expression("to be or that") == '"to" OR "be" OR "or" OR "that"'
    assert expression(" ?! ") == ""


def test_equal_hits_are_in_the_order_of_their_titles() -> None:
    """Nothing in an answer depends on the order of the entries."""
    for entries in (ENTRIES, ENTRIES[::-1]):
        found = Index(entries).search("Romulus twin", Scope(), 10)
        assert [hit.entry.title for hit in found] == ["Twin a", "Twin b"]


def test_the_page_of_that_title_comes_first() -> None:
    """Whatever its words are worth, and only where it is within the scope."""
    often = Entry("Heart of the heart", "Heart, heart, heart.", "Medicine", "COMMON", "A book")
    named = Entry("Heart", "A pump " + "of blood " * 50, "Medicine", "TEXTBOOK", "A book")
    index = Index([often, named])
    assert [hit.entry.title for hit in index.search("heart", Scope(), 2)] == [
        "Heart",
        "Heart of the heart",
    ]
    common = Scope(frozenset({"COMMON"}))
    assert [hit.entry.title for hit in index.search("heart", common, 2)] == ["Heart of the heart"]


def test_any_form_of_a_word_is_found() -> None:
    """The stemmer makes pumps, pumping and pumped one word; case and accents make none."""
    index = Index(ENTRIES)
    for query in ("pumping", "PUMPED", "Arzte"):
        assert index.search(query, Scope(), 10), query


# --- over the wire ---


def test_the_same_bytes_each_time(url: str) -> None:
    """But for the Date header, over one kept connection, and from another server alike."""
    path = "/api/rest_v1/page/summary/Beta_blockers_in_heart_failure"
    with served(ENTRIES) as other, httpx.Client(trust_env=False) as client:
        answers = [client.get(f"{address}{path}") for address in (url, url, other)]
    bodies = {answer.content for answer in answers}
    heads = {tuple(h for h in answer.headers.raw if h[0] != b"Date") for answer in answers}
    assert len(bodies) == len(heads) == 1


def test_connections_are_kept(url: str) -> None:
    """HTTP/1.1 with lengths: a client asks for all sorts of things over one connection."""
    with httpx.Client(trust_env=False, limits=httpx.Limits(max_connections=1)) as client:
        streams = set()
        for path in ("/wiki/Twin_a", "/nothing", "/search", "/api/rest_v1/page/summary/twin_a"):
            response = client.get(f"{url}{path}")
            assert int(response.headers["content-length"]) == len(response.content)
            streams.add(response.extensions["network_stream"].get_extra_info("client_addr"))
        assert client.head(f"{url}/wiki/Twin_a").content == b""
        assert client.get(f"{url}/wiki/Twin_a").status_code == 200
    assert len(streams) == 1


def test_many_at_once(url: str) -> None:
    """Sixteen threads get what one gets."""
    words = ["heart", "failure", "twin", "band", "mortality"] * 40
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda word: [r["title"] for r in searched(url, q=word)], words))
    assert found[:5] * 40 == found


@pytest.mark.parametrize("kind", ["wikipedia-summary", "wikipedia-extract", "searxng"])
def test_our_own_adapters_find_in_it(url: str, kind: str) -> None:
    """By title and by words; the licence and the citation's address are the entry's own."""
    expected = Passage(
        ENTRIES[0].title, ENTRIES[0].text, ENTRIES[0].url, "", "1999-01-02", "CC0-1.0"
    )
    for direction in ("beta blockers in heart failure", "chronic mortality of bisoprolol"):
        found = look_up(url, kind, direction)
        assert found.state == FOUND
        assert found.passage is not None
        assert (found.passage.revision == "") == (kind == "searxng")
        plain = Passage(
            found.passage.title,
            found.passage.text,
            found.passage.url,
            "",
            found.passage.date[:10],
            found.passage.licence,
        )
        assert plain == expected
    assert look_up(url, kind, "banana bread").state == NOT_FOUND
    assert look_up(url, kind, quote('AC/DC & "Ärzte" of doctors')).state == NOT_FOUND
    assert look_up(url, kind, 'AC/DC & "Ärzte"').state == FOUND


def test_our_own_adapter_keeps_to_window_and_tier(url: str) -> None:
    """Only what is dated within the window, only what is of the tiers asked for."""
    found = look_up(url, "searxng", "heart failure", WINDOW)
    assert found.passage is not None
    assert found.passage.title == "Heart failure in 2025"
    options = {"categories": "PROFESSIONAL"}
    assert look_up(url, "searxng", "heart failure", WINDOW, options=options).state == NOT_FOUND
    found = look_up(url, "searxng", "heart failure", options=options)
    assert found.passage is not None
    assert found.passage.title == ENTRIES[0].title


def test_every_entry_of_the_package_is_found_by_its_title() -> None:
    """By each kind of source, all of them."""
    entries = read_corpus()
    with served(entries) as address, httpx.HTTPTransport() as transport:
        for kind in ("wikipedia-summary", "wikipedia-extract", "searxng"):
            source = open_source(endpoint(kind, address), transport)
            for number, entry in enumerate(entries):
                found = first(source.look_up(f"{kind}-{number}", entry.title, None))
                assert found.passage is not None, (kind, entry.title, found)
                assert found.passage.title == entry.title


# --- the command ---


def test_a_port_in_use_is_told() -> None:
    """UsageError with the port and what to do."""
    with CorpusServer(Index(ENTRIES), 0) as server:
        port = server.server_port
        with pytest.raises(UsageError, match=f"port {port} on 127.0.0.1 cannot be used"):
            CorpusServer(Index(ENTRIES), port)
        done = CliRunner().invoke(main, ["corpus", "serve", "--port", str(port)])
        assert (done.exit_code, f"port {port}" in done.output) == (2, True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_serving_until_ended(number: signal.Signals, code: int) -> None:
    """The address is printed once it answers; Ctrl-C is 130, SIGTERM 0, without a traceback."""
    command = [sys.executable, "-m", "harness", "corpus", "serve", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=dict(os.environ), **pipes) as child:  # type: ignore[call-overload]
        line = child.stdout.readline()
        match = re.fullmatch(r"serving (\d+) entries at (http://127\.0\.0\.1:\d+) .*\n", line)
        assert match
        assert int(match[1]) == len(read_corpus())
        assert searched(match[2], q="Marbury v. Madison")[0]["title"] == "Marbury v. Madison"
        child.send_signal(number)
        _, said = child.communicate(timeout=10)
    assert child.returncode == code
    assert "Traceback" not in said


def test_checking_a_corpus(tmp_path: Path) -> None:
    """Counts by domain and tier, or the first mistake with file and line and exit code 2."""
    done = CliRunner().invoke(main, ["corpus", "check"])
    assert done.exit_code == 0, done.output
    assert re.search(r"^ +\d+  Quantum Computing, CUTTING_EDGE$", done.output, re.MULTILINE)
    assert done.output.endswith(f"{len(read_corpus()):6d}  in all\n")
    (tmp_path / "bad.jsonl").write_text("{}\n")
    done = CliRunner().invoke(main, ["corpus", "check", str(tmp_path)])
    assert done.exit_code == 2
    assert "bad.jsonl, line 1" in done.output
