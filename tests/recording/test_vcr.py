"""vcrpy's files taken in, and ours played by vcrpy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
import vcr
from loopback import Answer, Loopback, Received, json_answer
from recording.sessions import client, recorded
from vcr.serializers import yamlserializer

from harness.errors import DamagedFile, UsageError
from harness.recording import guard
from harness.recording.transport import RecordingTransport
from harness.run.look import import_cassette

pytest_plugins = ["pytester"]
MATCH = ["method", "uri", "raw_body"]


def answer(received: Received) -> Answer:
    """Answer with an echo; some paths differ."""
    if received.path == "/drop":
        return Answer(0)
    if received.path == "/binary":
        return Answer(body=bytes(range(256)), headers=[("X-Two", "1"), ("X-Two", "2")])
    return json_answer({"path": received.path, "text": "Zürich \u2028", "n": received.number})


def played(path: Path, **more: Any) -> Any:
    """Open a cassette with plain vcrpy, to play only."""
    options = {"serializer": "json", "record_mode": "none", "match_on": MATCH, **more}
    return vcr.use_cassette(str(path), **options)


def bare() -> httpx.Client:
    """Make a client that knows nothing of us."""
    return httpx.Client(trust_env=False, timeout=5.0)


def test_plain_vcrpy_plays_ours(tmp_path: Path) -> None:
    """vcrpy loads a cassette of ours, with an error and binary in it, and plays its text calls."""
    path = tmp_path / "c.json"
    with Loopback(answer) as server, client(path, "once") as live:
        named = live.post(f"{server.url}/one", json={"a": 1}, extensions={"call": "turn-1/x"})
        other = live.get(f"{server.url}/two?b=1&a=2")
        live.post(f"{server.url}/binary", content=b"\xff\xfe")
        with pytest.raises(httpx.RemoteProtocolError):
            live.get(f"{server.url}/drop")
    before, data = guard.attempts(), path.read_bytes()
    with guard.closed(), played(path) as cassette, bare() as plain:
        assert len(cassette) == 4
        again = plain.post(f"{server.url}/one", json={"a": 1})
        assert (again.content, again.json()["path"]) == (named.content, "/one")
        assert plain.get(f"{server.url}/two?b=1&a=2").content == other.content
        failed = plain.get(f"{server.url}/drop")
        assert (failed.status_code, failed.content) == (599, b"")
    assert (guard.attempts(), path.read_bytes()) == (before, data)


@pytest.mark.parametrize("serializer", ["yaml", "json"])
def test_vcrpy_cassettes_are_taken_in(tmp_path: Path, serializer: str) -> None:
    """What vcrpy recorded replays through our transport, repeats and headers included."""
    source, target = tmp_path / f"c.{serializer}", tmp_path / "ours.json"
    with (
        Loopback(answer) as server,
        vcr.use_cassette(str(source), serializer=serializer, record_mode="all"),
        bare() as plain,
    ):
        live = [
            plain.post(f"{server.url}/one", json={"b": 1, "a": "ü"}),
            plain.post(f"{server.url}/one", json={"b": 1, "a": "ü"}),
            plain.get(f"{server.url}/two", params={"q": "x y"}),
        ]
        if serializer == "yaml":
            live.append(plain.get(f"{server.url}/binary"))
    assert import_cassette(source, target, []) == len(live)
    transport = RecordingTransport(target)
    with guard.closed(), httpx.Client(transport=transport) as again:
        found = [
            again.post(f"{server.url}/one", content='{"a":"ü", "b":1}'),
            again.post(f"{server.url}/one", json={"b": 1, "a": "ü"}),
            again.get(f"{server.url}/two", params={"q": "x y"}),
        ]
        if serializer == "yaml":
            found.append(again.get(f"{server.url}/binary"))
        transport.check()
    assert [response.content for response in found] == [response.content for response in live]
    assert [response.reason_phrase for response in found] == ["OK"] * len(live)
    if serializer == "yaml":
        assert found[-1].headers.get_list("x-two") == ["1", "2"]


def cassette_file(path: Path, response: dict[str, Any], **more: Any) -> Path:
    """Write a vcrpy cassette of one interaction as YAML."""
    request: dict[str, Any] = {
        "method": "GET",
        "uri": "http://host.example/p",
        "body": None,
        "headers": {},
    }
    document = {"interactions": [{"request": request, "response": response}], "version": 1}
    path.write_text(yamlserializer.serialize({**document, **more}))
    return path


def imported(tmp_path: Path, source: Path) -> httpx.Response:
    """Import a cassette and give the replay of its one call."""
    target = tmp_path / "ours.json"
    assert import_cassette(source, target, []) == 1
    with client(target) as again:
        return again.get("http://host.example/p")


def test_old_httpx_layout(tmp_path: Path) -> None:
    """The layout of vcrpy's older httpx support, with status_code and content, is taken in."""
    source = cassette_file(
        tmp_path / "c.yaml",
        {
            "status_code": 201,
            "http_version": "HTTP/2",
            "headers": {"content-type": ["text/plain; charset=utf-8"], "content-encoding": ["br"]},
            "content": "Zürich, decoded",
        },
    )
    response = imported(tmp_path, source)
    assert (response.status_code, response.text) == (201, "Zürich, decoded")
    assert response.http_version == "HTTP/2"
    assert "content-encoding" not in response.headers


def test_metadata(tmp_path: Path) -> None:
    """The metadata that vcrpy writes since 9.3 are no hindrance."""
    whole = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "x"}}
    source = cassette_file(tmp_path / "c.yaml", whole, metadata={"now": "2026-01-01"})
    assert imported(tmp_path, source).content == b"x"


def test_odd_responses(tmp_path: Path) -> None:
    """Header values that are lists or not, empty bodies and text beyond Latin-1 are taken in."""
    odd = {
        "status": {"code": 200, "message": None},
        "headers": {"X-One": "plain", "X-Two": ["a", "b"], "X-Name": ["漢字"]},
        "body": {"string": None},
    }
    response = imported(tmp_path, cassette_file(tmp_path / "c.yaml", odd))
    assert (response.content, response.headers["x-one"]) == (b"", "plain")
    assert response.headers.get_list("x-two") == ["a", "b"]
    assert dict(response.headers.raw)[b"X-Name"] == "漢字".encode()


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['touch {mark}']",
        "!!python/object/new:os.system ['touch {mark}']",
        "!!python/object/apply:subprocess.check_call [['touch', '{mark}']]",
        "!!python/name:os.system",
        "!!python/module:os",
    ],
)
def test_code_in_yaml_is_refused(tmp_path: Path, tag: str) -> None:
    """A cassette that would run something is refused, and nothing is run or written."""
    source, target, mark = tmp_path / "c.yaml", tmp_path / "ours.json", tmp_path / "mark"
    source.write_text(f"interactions:\n- {tag.format(mark=mark)}\nversion: 1\n")
    with pytest.raises(DamagedFile, match="nothing in it was run"):
        import_cassette(source, target, [])
    assert not mark.exists()
    assert not target.exists()


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (b"", UsageError, "is no vcrpy cassette"),
        (b"- request: {}\n", UsageError, "is no vcrpy cassette"),
        (b"{}", UsageError, "is no vcrpy cassette"),
        (b'{"interactions": [', DamagedFile, "cannot be read"),
        (b"interactions: [\n", DamagedFile, "cannot be read"),
        (b"interactions: \xff\n", DamagedFile, "is not UTF-8"),
        (b"interactions:\n- {}\n", DamagedFile, "interaction 1 does not have vcrpy's form"),
        (b"interactions:\n- request: 1\n  response: 2\n", DamagedFile, "interaction 1"),
    ],
)
def test_other_files_are_refused(
    tmp_path: Path, content: bytes, error: type[Exception], said: str
) -> None:
    """A file that is no cassette, or a broken one, is named so and nothing is written."""
    source, target = tmp_path / "c.yaml", tmp_path / "ours.json"
    source.write_bytes(content)
    with pytest.raises(error, match=said):
        import_cassette(source, target, [])
    assert not target.exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """Import refuses to replace a file, and a source that is not there is said so."""
    target = tmp_path / "ours.json"
    with pytest.raises(UsageError, match="there is no such file"):
        import_cassette(tmp_path / "none.yaml", target, [])
    target.write_text("precious")
    with pytest.raises(UsageError, match="exists already"):
        import_cassette(tmp_path / "none.yaml", target, [])
    assert target.read_text() == "precious"


PLUGIN_TEST = """
import httpx
import pytest

@pytest.fixture(scope="module")
def vcr_config():
    return {CONFIG}

@pytest.mark.vcr
@pytest.mark.block_network
def test_calls():
    with httpx.Client(trust_env=False) as client:
        answer = client.post("{URL}/one", json={{"a": 1}})
        assert answer.json()["path"] == "/one"

@pytest.mark.vcr
def test_fixture(vcr):
    with httpx.Client(trust_env=False) as client:
        client.post("{URL}/one", json={{"a": 1}})
    assert vcr.play_count == 1
"""


def run_plugin(pytester: pytest.Pytester, url: str, config: dict[str, Any], *options: str) -> None:
    """Run the test above with pytest-recording in a process of its own."""
    text = PLUGIN_TEST.replace("{CONFIG}", repr(config)).replace("{URL}", url)
    pytester.makepyfile(test_theirs=text.replace("{{", "{").replace("}}", "}"))
    done = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", *options)
    done.assert_outcomes(passed=2)


def test_pytest_recording_plays_ours(pytester: pytest.Pytester) -> None:
    """pytest-recording's marker and fixture play a cassette of ours with the server gone."""
    folder = Path(pytester.path) / "cassettes" / "test_theirs"
    with Loopback(answer) as server, client(folder / "test_calls.json", "once") as live:
        live.post(f"{server.url}/one", json={"a": 1})
    (folder / "test_fixture.json").write_bytes((folder / "test_calls.json").read_bytes())
    config = {"serializer": "json", "match_on": MATCH}
    run_plugin(pytester, server.url, config, "--record-mode=none")


def test_pytest_recording_is_taken_in(pytester: pytest.Pytester) -> None:
    """What pytest-recording records is imported and replayed."""
    folder = Path(pytester.path) / "cassettes" / "test_theirs"
    with Loopback(answer) as server:
        with pytest.raises(AssertionError):
            run_plugin(pytester, server.url, {}, "--record-mode=none")
        script = pytester.runpytest_subprocess("-q", "--record-mode=once", "-k", "test_calls")
        script.assert_outcomes(passed=1, deselected=1)
    target = folder / "ours.json"
    assert import_cassette(folder / "test_calls.yaml", target, []) == 1
    with guard.closed(), client(target) as again:
        assert again.post(f"{server.url}/one", json={"a": 1}).json()["path"] == "/one"
    assert json.loads(target.read_bytes())["version"] == 1
    assert recorded(target)[0].response.status.message == "OK"
