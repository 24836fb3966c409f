"""A damaged cassette is named for what it is, and never taken for none or written over."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer, sse_answer
from recording.sessions import client

from harness.errors import DamagedFile
from harness.recording import cassette as cassettes
from harness.recording.exchange import recorded_reply
from harness.recording.recorder import Mode, Recorder

FLIPS, SEED = 300, 20240229


def answer(received: Received) -> Answer:
    """Answer in one of the ways that make a line of another kind."""
    if received.path == "/stream":
        return sse_answer([{"n": 1}, {"n": 2}])
    if received.path == "/binary":
        return Answer(
            headers=[("X-Name", "Größe"), ("Via", "a"), ("x-b", "c"), ("Via", "d")],
            body=bytes(range(200, 256)),
        )
    return Answer(0) if received.path == "/drop" else json_answer({"text": "Zürich", "n": 1})


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the bytes of a cassette with text, binary, a stream and an error."""
    path = tmp_path_factory.mktemp("sound") / "c.json"
    with Loopback(answer) as server, client(path, "once") as live:
        live.post(server.url, json={"prompt": "Grüße"}, extensions={"call": "turn-1/subject"})
        live.post(f"{server.url}/binary", content=b"\xff\xfe")
        live.get(f"{server.url}/stream")
        with pytest.raises(httpx.RemoteProtocolError):
            live.get(f"{server.url}/drop")
    return path.read_bytes()


def damage(path: Path, data: bytes) -> str:
    """Give what loading says of a file with these bytes; it must be DamagedFile that names it."""
    path.write_bytes(data)
    with pytest.raises(DamagedFile) as damaged:
        cassettes.load(path)
    assert str(path) in str(damaged.value)
    return str(damaged.value)


def assert_kept(path: Path) -> None:
    """Open a damaged file for recording, in both ways, and find it refused and unchanged."""
    before = path.read_bytes()
    modes: tuple[Mode, ...] = ("once", "new_episodes", "none")
    for mode in modes:
        with pytest.raises(DamagedFile):
            Recorder(path, mode)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_truncated_anywhere(tmp_path: Path, sound: bytes) -> None:
    """Cut off at any byte, the file is damaged, says how, and is refused for recording."""
    path = tmp_path / "c.json"
    for size in range(len(sound)):
        said = damage(path, sound[:size])
        assert "empty" in said if size == 0 else "cut off" in said or "UTF-8" in said
        if size % 61 == 0:
            assert_kept(path)


def test_any_bit_flipped(tmp_path: Path, sound: bytes) -> None:
    """One flipped bit is either damage, named so, or other content of the right form."""
    path, chance = tmp_path / "c.json", random.Random(SEED)
    outcomes: Counter[str] = Counter()
    for _ in range(FLIPS):
        flipped = bytearray(sound)
        flipped[chance.randrange(len(sound))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        try:
            for kept in cassettes.load(path):
                recorded_reply(kept)
            outcomes["loads"] += 1
        except DamagedFile:
            outcomes["damaged"] += 1
            assert_kept(path)
    assert outcomes["damaged"] > FLIPS / 4
    assert outcomes["loads"] > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: b"", "the file is empty"),
        (lambda data: data.replace(b"\n", b"\r\n"), "converted to CRLF"),
        (lambda data: data.replace("ü".encode(), "ü".encode("latin-1"), 1), "Invalid UTF-8"),
        (lambda data: data.replace(b'"method":"GET"', b'"method":"PUT","method":"GET"'), "twice"),
        (
            lambda data: data.replace(b'"status":{', b'"status":{"code":500,', 1),
            "'code' stands",
        ),
        (
            lambda data: data.replace(b'"headers":{"', b'"headers":{"X":["a"],"X":["b"],"'),
            "stands",
        ),
        (lambda data: b"interactions: []\nversion: 1\n", "harness import"),
        (lambda data: b"{}", "first line is not a cassette's"),
        (lambda data: b"\xef\xbb\xbf" + data, "first line is not a cassette's"),
        (lambda data: data + b"\n", "last line is missing"),
        (lambda data: data.replace(b'"call":', b'"cell":', 1), "unknown field"),
        (lambda data: data.replace(b'{"string":', b'{"strinG":'), "other fields than string"),
        (lambda data: data.replace(b'"chunks":[', b'"chunks":[9,'), "do not add up"),
        (lambda data: data.replace(b'"base64":"', b'"base64":"*'), "its base64"),
        (lambda data: data.replace(b'"request_base64":"', b'"request_base64":"A'), "its base64"),
        (lambda data: data.replace(b'"code":200', b'"code":20', 1), "its status"),
        (lambda data: data.replace(b'"call":', b'"digest":"1:","call":', 1), "it has a digest"),
        (lambda data: data.replace(b'"Via"', b'"Vib"', 1), "two lists of headers"),
        (lambda data: data.replace("Größe".encode(), "Gr漢ße".encode()), "latin-1"),
        (lambda data: data.replace(b'{"string":"",', b'{"string":"a lie",', 1), "two bodies"),
        (lambda data: data.replace(b"application/json", "js\u043en".encode(), 1), "latin-1"),
        (lambda data: data.replace(b'"uri":"http://', b'"uri":"http://[', 1), "Invalid IPv6"),
        (lambda data: twice_the_last_line(data), "out of order or stands twice"),
        (lambda data: data.replace(b"},\n", b"}\n", 1), "no comma"),
    ],
)
def test_named_for_what_it_is(tmp_path: Path, sound: bytes, change: object, said: str) -> None:
    """Each kind of damage is called by its name, and the file is left alone."""
    path = tmp_path / "c.json"
    assert callable(change)
    changed = change(sound)
    assert changed != sound
    assert said in damage(path, changed)
    assert_kept(path)


def twice_the_last_line(data: bytes) -> bytes:
    """Write a cassette's last interaction a second time."""
    lines = data.split(b"\n")
    return b"\n".join([*lines[:-3], lines[-3] + b",", lines[-3], *lines[-2:]])


def test_absent_is_not_damaged(tmp_path: Path) -> None:
    """No file is FileNotFoundError and nothing else."""
    with pytest.raises(FileNotFoundError):
        cassettes.load(tmp_path / "c.json")


def test_torn_journal_line_is_dropped_and_named(tmp_path: Path) -> None:
    """A journal's torn last line is sent again; damage before it stops and changes nothing."""
    path, journal = tmp_path / "c.json", tmp_path / "c.journal"
    with Loopback(answer) as server:
        live = client(path, "once")
        for n in range(3):
            live.post(server.url, json={"n": n})
        transport = live._transport
        assert hasattr(transport, "recorder")
        transport.recorder.release()
        whole = journal.read_bytes()
        journal.write_bytes(whole[:-7])
        resumed = Recorder(path, "new_episodes")
        assert len(resumed.cassette) == 2
        assert whole.endswith(resumed.torn + whole[-7:])
        resumed.release()
    damaged = whole.replace(b'"method"', b'"Method"', 1)
    journal.write_bytes(damaged)
    with pytest.raises(DamagedFile, match="line 2: damaged"):
        Recorder(path, "new_episodes")
    assert journal.read_bytes() == damaged
    assert not path.exists()


def test_a_line_in_another_form_is_read(tmp_path: Path, sound: bytes) -> None:
    """Another order, spaces and escapes are the same interactions, and no damage."""
    path = tmp_path / "c.json"
    path.write_bytes(sound)
    before = list(cassettes.load(path))
    lines = [json.loads(line.rstrip(b",")) for line in sound.split(b"\n")[1:-2]]
    other = b",\n".join(json.dumps(line, sort_keys=True).encode() for line in lines)
    path.write_bytes(b"\n".join([sound.split(b"\n")[0], other, b"]}\n"]))
    assert list(cassettes.load(path)) == before
