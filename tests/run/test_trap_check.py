"""harness traps check: every expert and phrase is looked for once, recorded, and replayed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from click.testing import CliRunner
from loopback import Answer, Loopback, Received, json_answer

from harness.cli import main
from harness.errors import CheckFailed, EndpointRefused, Incomplete, UsageError
from harness.jury.trap_check import check_traps, entries, trap_pools
from harness.recording import guard

EXPERT, PHRASE = "Professor Maren Tidewell of Sandport", "the lunar backwash"
CHECK = 'absence_check = { where = "nowhere", query = "x" }'
TRAPS = f"""
[[pool]]
domain = "oceanography"
[[pool.experts]]
text = "{EXPERT}"
difficulty = "near miss"
{CHECK}
[[pool.experts]]
text = "Dr. Ola Brine of the Ebb Institute"
difficulty = "clearly fictional"
{CHECK}
[[pool.claims]]
text = "argues that {{phrase}} explains {{concept}}"
difficulty = "counterfactual"
{CHECK}
[[pool.phrases]]
text = "{PHRASE}"
difficulty = "near miss"
{CHECK}
"""
OTHER = {"title": "Tides", "url": "https://tides.example", "content": "A lunar thing. Backwash."}


def asked(received: Received) -> str:
    """Give the words a request searches for, and hold it to the form of the question."""
    query = parse_qs(received.query)
    assert (received.method, received.path) == ("GET", "/search")
    assert query["format"] == ["json"]
    (words,) = query["q"]
    assert words[0] == words[-1] == '"'
    return words[1:-1]


def engine(pages: dict[str, Any]) -> Callable[[Received], Answer]:
    """Make a search engine: what it finds by the words, one page that does not fit for others."""

    def answer(received: Received) -> Answer:
        return json_answer({"query": "x", "results": pages.get(asked(received), [OTHER])})

    return answer


def write(folder: Path) -> Path:
    path = folder / "traps.toml"
    path.write_text(TRAPS)
    return path


def run(folder: Path, url: str, *more: str) -> Any:
    """Run the command on the small trap file, its cassette in the same folder."""
    cassette = str(folder / "searches.json")
    words = ["traps", "check", str(write(folder)), "--endpoint", url, "--cassette", cassette]
    return CliRunner().invoke(main, [*words, *more])


def test_every_expert_and_phrase_is_looked_up_once(tmp_path: Path) -> None:
    """One exact-phrase search an entry and none for a claim; nothing found is exit 0."""
    with Loopback(engine({})) as server:
        done = run(tmp_path, server.url)
        assert done.exit_code == 0, done.output
        words = [asked(received) for received in server.received]
    assert words == [EXPERT, "Dr. Ola Brine of the Ebb Institute", PHRASE]
    assert done.output.count(": not found") == 3
    assert f'oceanography, expert: "{EXPERT}": not found' in done.output
    assert "3 looked up, 0 found" in done.output


def test_the_packaged_traps_are_looked_up_where_no_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every expert and phrase of the package; the cassette is traps-check.json, right here."""
    monkeypatch.chdir(tmp_path)
    wanted = [entry.text for entry in entries(trap_pools())]
    with Loopback(engine({})) as server:
        done = CliRunner().invoke(main, ["traps", "check", "--endpoint", server.url + "/"])
        assert done.exit_code == 0, done.output
        assert [asked(received) for received in server.received] == wanted
    assert len(wanted) >= 8 * 9
    assert (tmp_path / "traps-check.json").is_file()


@pytest.mark.parametrize("place", ["title", "content"])
def test_what_is_found_is_exit_1_with_its_page(tmp_path: Path, place: str) -> None:
    """The first result with the exact words is named; case and line breaks are no difference."""
    hit = {"title": "A page", "url": "https://found.example/1", "content": None}
    hit[place] = "On The  Lunar\nBackwash and its kin"
    later = {**hit, "url": "https://found.example/2"}
    with Loopback(engine({PHRASE: [OTHER, hit, later]})) as server:
        done = run(tmp_path, server.url)
    assert done.exit_code == 1
    (line,) = [line for line in done.output.splitlines() if ": found: " in line]
    assert line.startswith(f'oceanography, phrase: "{PHRASE}": found: ')
    assert line.endswith("<https://found.example/1>")
    assert "3 looked up, 1 found" in done.output


def test_the_same_command_replays_without_a_network(tmp_path: Path) -> None:
    """With the cassette there the report is the same, byte for byte, and nothing is sent."""
    hit = {"title": "A page", "url": "https://found.example", "content": PHRASE}
    with Loopback(engine({PHRASE: [hit]})) as server:
        live = run(tmp_path, server.url)
    before = guard.attempts()
    kept = (tmp_path / "searches.json").read_bytes()
    with guard.closed():
        again = run(tmp_path, server.url)
    assert (again.exit_code, again.output) == (live.exit_code, live.output) == (1, live.output)
    assert guard.attempts() == before
    assert (tmp_path / "searches.json").read_bytes() == kept


def test_engines_that_did_not_answer_are_named(tmp_path: Path) -> None:
    """Nothing found by engines that were silent is told as such."""
    silent = {"results": [], "unresponsive_engines": [["atlas", "timeout"], ["zebra", "CAPTCHA"]]}
    with Loopback(lambda received: json_answer(silent)) as server:
        done = run(tmp_path, server.url)
    assert done.exit_code == 0
    assert "not found (no answer from: atlas: timeout, zebra: CAPTCHA)" in done.output


def test_a_strangers_words_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Control characters and lone surrogates of a result do not reach the output."""
    body = {"results": [{"title": f"\x1b[2J{PHRASE} \ud800", "url": "https://x.example/\x07"}]}
    with Loopback(lambda received: json_answer(body)) as server:
        done = run(tmp_path, server.url)
    assert done.exit_code == 1, done.output
    assert "[2J" in done.output
    assert "\x1b" not in done.output
    assert "\x07" not in done.output


def test_a_source_that_is_down_is_exit_3(tmp_path: Path) -> None:
    """Nobody listens: exit 3, and the message names the search and how to go on."""
    with Loopback(engine({})) as server:
        url = server.url
    done = run(tmp_path, url)
    assert done.exit_code == 3
    assert "oceanography/expert-01" in done.output
    assert "the same command goes on" in done.output
    assert not (tmp_path / "searches.json").exists()


def test_after_an_outage_only_the_rest_is_asked(tmp_path: Path) -> None:
    """Searches that were answered are not sent again; a passing fault is tried again at once."""
    statuses = iter([200, 503, 200, 429, 503, 502])

    def failing(received: Received) -> Answer:
        return json_answer({"results": []}, next(statuses, 200))

    pools, path = trap_pools(write(tmp_path)), tmp_path / "searches.json"
    with Loopback(failing) as server:
        with pytest.raises(Incomplete, match=r"phrase-01.*502 to the last try"):
            list(check_traps(pools, server.url, path, first_wait=0.0))
        assert not path.exists()
        first = len(server.received)
        assert first == 1 + 2 + 3
        findings = list(check_traps(pools, server.url, path, first_wait=0.0))
        assert [asked(received) for received in server.received[first:]] == [PHRASE]
    assert [finding.entry.text for finding in findings][-1] == PHRASE
    assert path.is_file()


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_source_that_refuses_stops_at_once(tmp_path: Path, status: int) -> None:
    """One request, exit code 3, and the refusal is not recorded: later the search goes on."""
    pools, path = trap_pools(write(tmp_path)), tmp_path / "searches.json"
    with Loopback(lambda received: json_answer({}, status)) as server:
        with pytest.raises(EndpointRefused, match=rf"answered {status}.*formats") as caught:
            list(check_traps(pools, server.url, path))
        assert len(server.received) == 1
        port = server.port
    assert caught.value.exit_code == 3
    with Loopback(engine({}), port=port) as server:
        assert len(list(check_traps(pools, server.url, path))) == 3


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"<html>a page for people</html>"),
        json_answer([]),
        json_answer({"answers": []}),
        json_answer({"results": "none"}),
        json_answer({"results": []}, status=302),
    ],
)
def test_a_reply_that_is_none_is_no_absence(tmp_path: Path, answer: Answer) -> None:
    """What is no search reply stops the check; it is never taken for "not found"."""
    pools, path = trap_pools(write(tmp_path)), tmp_path / "searches.json"
    with Loopback(lambda received: answer) as server:
        with pytest.raises(CheckFailed, match=r"no search reply.*another --cassette"):
            list(check_traps(pools, server.url, path))
        assert len(server.received) == 1
    assert not path.exists()


@pytest.mark.parametrize("change", ["other words", "one more", "one less", "other address"])
def test_a_cassette_of_other_searches_is_told(tmp_path: Path, change: str) -> None:
    """Changed traps, or another address, do not pass for what was searched; exit 1."""
    path, cassette = write(tmp_path), tmp_path / "searches.json"
    with Loopback(engine({})) as server:
        list(check_traps(trap_pools(path), server.url, cassette))
        pools, url = trap_pools(path), server.url
        extra = pools[0].phrases[0]
        if change == "other words":
            pools[0].phrases[0].text = "the solar backwash"
        elif change == "one more":
            pools[0].phrases.append(extra)
        elif change == "one less":
            pools[0].experts.pop()
        else:
            url = url.replace("127.0.0.1", "localhost")
        count = len(server.received)
        with pytest.raises(CheckFailed, match=r"other traps, or from another address"):
            list(check_traps(pools, url, cassette))
        assert len(server.received) == count


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://x.example", "http://", "http://x:port", ""]
)
def test_an_address_that_is_none_is_a_mistake(tmp_path: Path, url: str) -> None:
    """Exit code 2, nothing is written."""
    with pytest.raises(UsageError, match="is no address"):
        list(check_traps(trap_pools(write(tmp_path)), url, tmp_path / "searches.json"))
    assert [path.name for path in tmp_path.iterdir()] == ["traps.toml"]


def test_a_trap_file_with_a_mistake_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    """Exit 2 with file and key."""
    path = write(tmp_path)
    path.write_text(path.read_text().replace("difficulty", "dificulty", 1))
    with Loopback(engine({})) as server:
        words = ["traps", "check", str(path), "--endpoint", server.url]
        done = CliRunner().invoke(main, words)
        assert server.received == []
    assert done.exit_code == 2
    assert "dificulty" in done.output


def test_the_searches_are_named_by_place(tmp_path: Path) -> None:
    """The cassette names each search by domain, kind and number."""
    with Loopback(engine({})) as server:
        run(tmp_path, server.url)
    stored = json.loads((tmp_path / "searches.json").read_text())["interactions"]
    assert [kept["response"]["call"] for kept in stored] == [
        "oceanography/expert-01",
        "oceanography/expert-02",
        "oceanography/phrase-01",
    ]
