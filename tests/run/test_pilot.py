"""The pilot: its grid, and which concepts it says can tell subjects and levels apart."""

import json
import statistics
from pathlib import Path

import pytest
from click.testing import CliRunner
from loopback import Loopback
from provider import Provider
from study_text import study_text

from harness.cli import main
from harness.errors import CheckFailed, UsageError
from harness.protocols.ddft.analysis.pilot import BAND, PilotPower, concept_powers, power_of
from harness.protocols.ddft.dialogue.pilot_grid import pilot_cells
from harness.results import CellKey
from harness.run.pilot import pilot_lines
from harness.run.replay import sound_replays
from harness.study.folder import Study


def write(root: Path, levels: str, extra: str = "") -> Study:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True)
    text = study_text(
        "http://127.0.0.1:1", concepts=("harm-principle", "phoneme"), levels=levels, extra=extra
    )
    (folder / "study.toml").write_text(text)
    return Study(folder)


@pytest.mark.parametrize(
    ("levels", "kept"),
    [
        ("[0.0, 0.25, 0.5, 0.75, 1.0]", {0.0, 0.5, 1.0}),
        ("[1.0, 0.2, 0.4, 0.0]", {0.0, 0.2, 1.0}),
        ("[0.5, 0.0]", {0.0, 0.5}),
        ("[0.75]", {0.75}),
    ],
)
def test_a_pilot_is_three_levels_of_one_repeat(
    tmp_path: Path, levels: str, kept: set[float]
) -> None:
    """Lowest, middle, highest level; first repeat; arm paper; every subject and concept."""
    study = write(tmp_path, levels, 'arms = ["hedged", "paper"]\nrepeats = 2\n')
    cells = pilot_cells(study)
    assert cells == sorted(
        CellKey(subject, concept, level)
        for subject in ("subject-a", "subject-b")
        for concept in ("harm-principle", "phoneme")
        for level in kept
    )
    assert set(cells) < set(study.cells())


def test_a_study_without_the_papers_arm_has_no_pilot(tmp_path: Path) -> None:
    """The message names the arms there are."""
    study = write(tmp_path, "[0.0, 1.0]", 'arms = ["hedged"]\n')
    with pytest.raises(UsageError, match=r"arms has no 'paper'.*hedged"):
        pilot_cells(study)


def pilot_report(study: Study, band: tuple[float, float] = BAND) -> list[PilotPower]:
    """Return the power of the study's concept by the cells that are recorded."""
    finished = [cell for cell in study.cells() if study.cassette(cell).exists()]
    cells = [replay.result for replay in sound_replays(study, finished)]
    return concept_powers(["harm-principle"], cells, band)


def means(folder: Path) -> list[float]:
    """Give the mean FAR of each subject at each level, from results.json alone."""
    cells = json.loads((folder / "results.json").read_text())["cells"]
    return [statistics.fmean(turn["far"] for turn in cell["turns"]) for cell in cells]


def test_the_power_is_the_variance_over_subjects_and_levels(recorded: Path) -> None:
    """Variance and SD are those of the numbers in results.json, with ddof 0, and name their n."""
    folder = recorded / "cassettes" / "small"
    (power,) = pilot_report(Study(folder))
    assert power.concept == "harm-principle"
    assert (power.variance.n, power.sd.n) == (6, 6)
    assert power.variance.value == pytest.approx(statistics.pvariance(means(folder)), rel=1e-9)
    assert power.sd.value == pytest.approx(statistics.pstdev(means(folder)), rel=1e-9)
    assert power.band == BAND == (0.15, 0.85)
    assert power.variance_in_band is False
    assert "n 6" in power.line
    assert pilot_lines(Study(folder)) == [power.line]


def test_the_band_is_the_callers(recorded: Path) -> None:
    """Another band gives another answer; its ends belong to it."""
    study = Study(recorded / "cassettes" / "small")
    sd = pilot_report(study)[0].sd.value
    assert sd is not None
    (power,) = pilot_report(study, band=(sd, 0.85))
    assert power.sd_in_band is True
    assert power.variance_in_band is False
    (power,) = pilot_report(study, band=(0.0, sd / 2))
    assert power.sd_in_band is False


def test_only_finished_cells_count(recorded: Path) -> None:
    """What is not recorded yet is left out and n says so; below two means there is no number."""
    study = Study(recorded / "cassettes" / "small")
    cells = study.cells()
    study.cassette(cells[0]).unlink()
    assert pilot_report(study)[0].variance.n == 5
    for cell in cells[1:-1]:
        study.cassette(cell).unlink()
    (power,) = pilot_report(study)
    assert (power.variance.value, power.variance.n) == (None, 1)
    assert (power.variance_in_band, power.sd_in_band) == (None, None)
    assert "null (fewer than two values)" in power.line
    study.cassette(cells[-1]).unlink()
    assert [(power.concept, power.sd.n) for power in pilot_report(study)] == [("harm-principle", 0)]


def test_a_cell_that_does_not_replay_stops_the_report(recorded: Path) -> None:
    """Materials that the recording was not made with give no numbers."""
    study = Study(recorded / "cassettes" / "small")
    text = study.materials.read_text()
    study.materials.write_text(text.replace("The Harm Principle", "The Harm Rule"))
    with pytest.raises(CheckFailed, match="changed since it was recorded"):
        pilot_lines(study)


def test_no_variance_comes_near_the_papers_band() -> None:
    """Half zeros and half ones vary most: 0.25, inside a band of which most is out of reach."""
    power = power_of("x", [0.0, 1.0] * 5)
    assert power.variance.value == 0.25
    assert power.sd.value == 0.5
    assert power.variance_in_band is power.sd_in_band is True
    assert power_of("x", [0.4] * 7).variance.value == 0.0


def test_a_pilot_is_recorded_without_results_and_the_study_goes_on(tmp_path: Path) -> None:
    """--pilot records three levels, says how concepts discriminate, and leaves the rest open."""
    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(Provider()) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.0, 0.25, 0.5, 0.75, 1.0]")
        (folder / "study.toml").write_text(text)
        done = CliRunner().invoke(main, ["record", str(folder), "--pilot"])
        assert done.exit_code == 0, done.output
        assert "cells 3/3" in done.output
        assert "harm-principle" in done.output.splitlines()[-1]
        assert not (folder / "results.json").exists()
        assert server.answered == 3 * 25
        assert CliRunner().invoke(main, ["record", str(folder)]).exit_code == 0
        assert server.answered == 5 * 25
    assert (folder / "results.json").exists()
