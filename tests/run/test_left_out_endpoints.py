"""What may not be handed on is found by the endpoint that each call names, not by its address."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from loopback import Loopback
from provider import Provider
from study_folder import unpublish
from study_text import study_text

from harness.bundle import replay as bundle
from harness.cli import main
from harness.protocols.ddft.study_table import ddft_plan
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.run.endpoints import with_endpoints
from harness.run.record import Recording
from harness.study.folder import Study

ROOT = Path(__file__).parent.parent.parent
SPELLINGS: dict[str, Callable[[str, str], str]] = {
    "capital host": lambda text, url: text.replace(url, url.replace("127.0.0.1", "LOCALHOST")),
    "served by another name": lambda text, _: text.replace(
        'model = "subject-a"\n', 'model = "alias"\nparams = { model = "subject-a" }\n'
    ),
    "a slash at the end": lambda text, url: text.replace(url, f"{url}/"),
}


def answers_of(study: Study, name: str) -> set[str]:
    """Return what a model said in a study."""
    return {
        json.loads(one.body_bytes)["choices"][0]["message"]["content"]
        for cell in study.cells()
        for one in cassettes.load(study.cassette(cell))
        if one.response.endpoint == name
    }


def packed_without(study: Study, name: str, out: Path) -> Result:
    words = ["pack", str(study.folder), "-o", str(out), "--drop", name]
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_dropped_models_answers_are_gone_however_it_is_addressed(
    spelling: str, tmp_path: Path
) -> None:
    """Capitals in the host, another served name, a slash: no answer of it is in the bundle."""
    folder = tmp_path / "cassettes" / "small"
    folder.mkdir(parents=True)
    with Loopback(Provider()) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.0]")
        (folder / "study.toml").write_text(SPELLINGS[spelling](text, server.url))
        study = Study(folder)
        assert Recording(study).run().problems == []
    answers = answers_of(study, "subject-a")
    assert len(answers) == 5
    done = packed_without(study, "subject-a", tmp_path / "x.tar.zst")
    assert done.exit_code == 0, done.output
    with bundle.opened(tmp_path / "x.tar.zst") as opened:
        texts = [path.read_text("utf-8") for path in opened.root.rglob("*") if path.is_file()]
    for answer in answers:
        assert json.dumps(answer)[1:-1] not in "".join(texts)


def test_a_recording_that_does_not_say_who_was_asked_is_refused(
    recorded: Path, tmp_path: Path
) -> None:
    """A call without an endpoint, or with one the study has not, stops the packing by its name."""
    study = Study(recorded / "cassettes/small")
    path = study.cassette(study.cells()[0])
    path.write_text(path.read_text().replace('"endpoint":"subject-a"', '"endpoint":"nobody"'))
    checksums.write_manifests(study.root, study.folder)
    done = packed_without(study, "subject-a", tmp_path / "x.tar.zst")
    assert done.exit_code == 1
    assert "was recorded of 'nobody'" in done.output
    assert not (tmp_path / "x.tar.zst").exists()


def test_whom_a_format_1_cell_asked_comes_from_a_replay() -> None:
    """The bundled study of the older format: each call's endpoint, as its name has it."""
    study = Study(ROOT / "cassettes" / "ddft-local")
    cell = study.cells()[0]
    for label, interaction in with_endpoints(study, cell).labelled():
        endpoint = interaction.response.endpoint
        if "/judge/" in label:
            assert label.split("/")[2] == endpoint
        elif label.endswith("/subject"):
            assert endpoint == cell.name.split("--")[0]
        else:
            assert endpoint == ddft_plan(study).interviewer


def test_a_cell_that_is_not_published_keeps_its_endpoints(recorded: Path) -> None:
    """A study that is still being recorded names its endpoints too."""
    study = Study(recorded / "cassettes/small")
    unpublish(study)
    cassette = with_endpoints(study, study.cells()[0])
    assert {one.response.endpoint for one in cassette} <= set(study.file.models)
