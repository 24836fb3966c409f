"""An endpoint at which nobody answers stops the recording; open cells are started anew at once."""

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner
from drilling import answering, world, write_drill
from loopback import Answer, Loopback, Received
from provider import Provider
from study_folder import edit, kept_calls, left_over, write_study

from harness.cli import main
from harness.errors import UsageError
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.study.folder import Study

CELLS = 8


def closed_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return int(own.getsockname()[1])


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, list(words))
    return done.exit_code, done.output


def judge_down(root: Path, url: str) -> Study:
    """Write a study of eight cells whose judge-b is at an address where nobody is."""
    levels = str([level / 10 for level in range(CELLS)])
    study = write_study(root, url, levels=levels, record="tries = 2\nworkers = 1")
    dead = f"http://127.0.0.1:{closed_port()}/v1"
    edit(
        study,
        f'base_url = "{url}/v1"\nmodel = "judge-b"',
        f'base_url = "{dead}"\nmodel = "judge-b"',
    )
    return Study(study.folder)


def test_a_dead_endpoint_stops_the_recording_at_the_second_cell(tmp_path: Path) -> None:
    """Exit 3 after two cells of eight, naming the model and its address; then it goes on."""
    with Loopback(Provider()) as server:
        study = judge_down(tmp_path, server.url)
        code, said = run("record", str(study.folder))
        assert code == 3
        assert "judge-b cannot be reached at http://127.0.0.1:" in said
        assert "ConnectError" in said
        assert "Start the server, or correct base_url" in said
        assert len(left_over(study)) == 2
        assert server.answered == sum(kept_calls(study).values())
        dead = study.file.models["judge-b"].base_url
        edit(study, dead, f"{server.url}/v1")
        code, said = run("record", str(study.folder), "--restart", "open")
        assert code == 0, said
    assert replay(Study(study.folder), verify_checksums=True).ok


def test_an_answer_in_between_starts_the_count_anew(tmp_path: Path) -> None:
    """An endpoint that is down for one cell and back for the next stops nothing."""
    port, provider = closed_port(), Provider()
    with Loopback(provider) as server:
        study = judge_down(tmp_path, server.url)
        edit(study, study.file.models["judge-b"].base_url, f"http://127.0.0.1:{port}/v1")
        with pytest.raises(Exception, match="second call in a row"):
            Recording(Study(study.folder)).run()
        with Loopback(provider, port=port):
            assert Recording(Study(study.folder)).run().problems == []


def test_a_source_that_others_stand_in_for_may_be_down(tmp_path: Path) -> None:
    """The first source of a tier is down: its look-ups fall to the second, and nothing stops."""
    dead = f"http://127.0.0.1:{closed_port()}"
    with Loopback(answering(world())) as server:
        study = write_drill(
            tmp_path, server.url, sources=("wiki", "other"), questions=2, max_depth=1,
            record="tries = 1",
        )  # fmt: skip
        edit(study, f"{server.url}/wiki", dead)
        assert Recording(Study(study.folder)).run().problems == []


def test_restart_open_starts_every_begun_cell_anew(tmp_path: Path) -> None:
    """After a changed setting, which is refused, one word starts what is open and keeps the rest.

    The refusal names the word.
    """
    down = [True]

    def reply(received: Received) -> Answer:
        return Answer(503) if down[0] and received.number > 60 else Provider()(received)

    with Loopback(reply) as server:
        study = write_study(
            tmp_path, server.url, levels="[0.0, 0.2, 0.4, 0.6]", record="tries = 1\nworkers = 1"
        )
        assert run("record", str(study.folder))[0] == 3
        begun = left_over(study)
        assert len(begun) == 2
        down[0] = False
        edit(study, "seed = 7", "seed = 8")
        code, said = run("record", str(study.folder), "--restart", "open")
        assert code != 0, "two finished cells are of the seed before"
        edit(study, "seed = 8", "seed = 7")
        before = server.answered
        code, said = run("record", str(study.folder), "--restart", "open")
        assert code == 0, said
        assert server.answered - before == 50
    aside = [path.name for path in study.folder.glob("*.journal-*")]
    assert len(aside) == 2


def test_a_wrong_word_for_restart_is_told(tmp_path: Path) -> None:
    """A cell that is not there is named, with the word that stands for all open ones."""
    study = write_study(tmp_path, "http://127.0.0.1:1")
    with pytest.raises(UsageError, match=r"--restart opne: no such cell.*'open' stands for all"):
        Recording(study, restart=["opne"])


def test_results_are_made_anew_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every cell is recorded nothing is sent, so no key is wanted."""
    monkeypatch.setenv("THE_KEY", "key-1234567890")
    with Loopback(Provider()) as server:
        study = write_study(tmp_path, server.url)
        named = 'model = "judge-a"'
        edit(study, named, f'{named}\napi_key_env = "THE_KEY"')
        assert Recording(Study(study.folder)).run().problems == []
    monkeypatch.delenv("THE_KEY")
    before = study.results.read_bytes()
    study.results.unlink()
    assert Recording(Study(study.folder)).run().problems == []
    assert study.results.read_bytes() == before
