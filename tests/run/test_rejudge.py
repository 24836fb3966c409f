"""Another jury for recorded answers: only judges are asked, and the old study stays."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from loopback import Loopback
from provider import Provider
from study_text import study_text

from harness.cli import main
from harness.jury.rejudge import rejudged_study
from harness.protocols.ddft.study_table import ddft_plan
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.study.folder import Study


def test_only_the_new_judges_are_asked_and_the_old_study_stays(tmp_path: Path) -> None:
    """Dialogues are taken over word for word, judgements are new, and a table says what changed."""
    folder = tmp_path / "cassettes" / "small"
    folder.mkdir(parents=True)
    with Loopback(Provider()) as server:
        (folder / "study.toml").write_text(study_text(server.url, levels="[0.0, 1.0]"))
        Recording(Study(folder)).run()
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        asked = len(server.received)
        more = tmp_path / "more.toml"
        more.write_text(f'[models.judge-x]\nbase_url = "{server.url}/v1"\nmodel = "judge-x"\n')
        words = ["rejudge", "small", "--jury", "judge-a,judge-x", "--models", str(more)]
        words += ["--root", str(tmp_path)]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        new = server.received[asked:]
    assert {received.json()["model"] for received in new} == {"judge-a", "judge-x"}
    assert len(new) == 4 * 5 * 2
    assert {path: path.read_bytes() for path in before} == before
    assert "subject-a" in done.output
    assert "->" in done.output
    found = Study(tmp_path / "cassettes" / "small-rejudged")
    assert replay(found, verify_checksums=True).ok
    assert replay(Study(folder), verify_checksums=True).ok


@pytest.mark.parametrize(
    "scoring",
    [
        '[ddft.scoring]\n"judge-a" = "verdict"\njudge-b = "verdict"\n\n[record]\nworkers = 2\n',
        'scoring = { judge-a = "verdict", "judge-b" = "verdict" }  # by judge\n\n'
        "[record]\nworkers = 2\n",
        '[ddft.scoring]\njudge-b = "verdict"',
    ],
)
def test_who_leaves_the_jury_leaves_its_scoring(scoring: str, tmp_path: Path) -> None:
    """A form of scoring is set judge by judge; those who stay keep theirs."""
    folder = tmp_path / "cassettes" / "small"
    folder.mkdir(parents=True)
    with Loopback(Provider()) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.0]", extra=scoring)
        (folder / "study.toml").write_text(text)
        old = Study(folder)
        Recording(old).run()
        new = rejudged_study(old, ["judge-a", "judge-c"], "other", None)
    before, after = ddft_plan(old).scoring_of, ddft_plan(new).scoring_of
    assert after == {name: before[name] for name in ("judge-a", "judge-c")}
    assert new.file.record == old.file.record


def test_a_jury_that_nobody_knows_leaves_nothing_behind(recorded: Path) -> None:
    """An unknown judge is exit 2, and no half-made study stays."""
    words = ["rejudge", "small", "--jury", "judge-z", "--root", str(recorded)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "judge-z" in done.output
    assert not (recorded / "cassettes" / "small-rejudged").exists()
