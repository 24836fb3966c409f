"""Several phrasings of one model are one judge: agreement is between models."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import synthetic
from click.testing import CliRunner
from jury.examiners import examining, write_study
from loopback import Loopback

from harness.api import record
from harness.cli import main
from harness.protocols.ddft.analysis.agreement_intervals import agreement_intervals
from harness.protocols.ddft.analysis.reliability import jury
from harness.protocols.ddft.analysis.schema_jury import Jury, ScaleAgreement
from harness.results import Phrasings, canonical
from harness.stats import agreement
from harness.study.folder import Study
from harness.study.one_model import one_model

MADE = synthetic.study(3, 2, missing=0.1)
ALL = [Phrasings("small", ["judge-0", "judge-1", "judge-2"])]
SOME = [Phrasings("small", ["judge-0", "judge-2"])]
WORDS = "Self-consistency of small ({} phrasings), not agreement between judges"


def judged(groups: Sequence[Phrasings] = (), version: int = 2) -> Jury:
    return jury(MADE.cells, [], [], MADE.rules, groups, version)


def numbers(scale: ScaleAgreement) -> list[tuple[float | None, str | None]]:
    """Return each number of an agreement with its reason."""
    measures = [v for name, v in vars(scale.agreement).items() if name not in ("n", "n_complete")]
    icc = measures.pop()
    means = [part.mean for part in scale.kappas]
    every = [*measures, *icc.values(), *means, scale.clear, scale.edge]
    return [(one.value, one.reason) for one in every]


def test_agreement_is_null_where_all_judges_are_one_model() -> None:
    """No number is called agreement; what the phrasings agree is named self-consistency."""
    found, apart = judged(ALL), judged()
    reason = "every judge is small: there is one model, and nobody for it to agree with"
    for scale in found.scales:
        assert set(numbers(scale)) == {(None, reason)}
        assert [part.pairs for part in scale.kappas] == [[]] * len(scale.kappas)
    assert found.heading == "Agreement between models: none, every judge is small"
    [own] = found.self_consistency
    assert (own.heading, own.judges) == (WORDS.format(3), ALL[0].judges)
    assert canonical(own.scales) == canonical(apart.scales)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("groups", [[], SOME, ALL], ids=["none", "some", "all"])
def test_every_agreement_has_intervals(groups: list[Phrasings], version: int) -> None:
    """By its heading and scale: each of the jury's and of the phrasings' that has a table."""
    intervals = agreement_intervals(MADE.cells, groups, version)
    of = {(found.heading, found.scale): found for found in intervals}
    shown = judged(groups, version).agreements
    assert set(of) == {(one.heading, scale.scale) for one in shown for scale in one.scales}
    too_few = "3 subjects, at least 4 are needed"
    reasons = [found.alpha.reason for found in intervals if "none" not in found.heading]
    assert set(reasons) == {too_few}


def test_intervals_of_agreement_are_over_subjects_and_name_constant_judges() -> None:
    """Four subjects have intervals around alpha; a judge of one score is named with it."""
    made = synthetic.study(4, 2)
    scale = jury(made.cells, [], [], made.rules).scales[0]
    found = agreement_intervals(made.cells, [], 2)[0]
    for number, interval in (
        (scale.agreement.alpha, found.alpha),
        (scale.agreement.icc["ICC(A,1)"], found.icc["ICC(A,1)"]),
    ):
        assert interval.low is not None and interval.high is not None
        assert interval.low < (number.value or 0) < interval.high <= 1
    assert found.constant == {}
    for cell in made.cells:
        for turn in cell.turns:
            turn.scores["judge-1"].far = 0.5
    assert agreement_intervals(made.cells, [], 2)[0].constant == {"judge-1": 0.5}
    assert agreement_intervals(made.cells, [], 2)[1].constant == {}


def test_a_model_of_several_phrasings_is_one_judge_by_its_mean() -> None:
    """Alpha, ICC and kappa are those of the phrasings' mean and the judges of other models."""
    found = judged(SOME)
    rows: list[list[float | None]] = []
    for cell in MADE.cells:
        for turn in cell.turns:
            first, second, third = (turn.scores[f"judge-{place}"].far for place in range(3))
            same = [score for score in (first, third) if score is not None]
            rows.append([second, sum(same) / len(same) if same else None])
    far, reference = found.scales[0].agreement, agreement.agreement(rows)
    assert far.n_complete == reference.n_complete > judged().scales[0].agreement.n_complete
    assert far.alpha.value == pytest.approx(reference.alpha.value)
    assert far.icc["ICC(A,1)"].value == pytest.approx(reference.icc["ICC(A,1)"].value)
    [pair] = found.scales[0].kappas[0].pairs
    assert (pair.first, pair.second) == ("judge-1", "small (judge-0, judge-2)")
    assert found.heading == "Agreement between models (of small the mean of its phrasings)"
    assert [part.heading for part in found.self_consistency] == [WORDS.format(2)]


def test_judges_of_several_models_agree_as_before() -> None:
    """Nothing is named self-consistency where no model has two phrasings that judged."""
    absent = [Phrasings("small", ["judge-0", "judge-9"])]
    assert canonical(judged()) == canonical(judged(absent)) == canonical(judged(version=1))
    assert judged().heading == "Agreement of the judges"
    assert judged().self_consistency == []


@pytest.mark.parametrize(
    ("groups", "headings"),
    [
        (ALL, [WORDS.format(3)]),
        (
            SOME,
            [
                "Agreement of the judges, in part self-consistency (judge-0, judge-2 are small)",
                WORDS.format(2),
            ],
        ),
    ],
)
def test_version_1_keeps_its_numbers_and_says_what_they_are(
    groups: Sequence[Phrasings], headings: list[str]
) -> None:
    """The recorded numbers of version 1 stay; the heading names the self-consistency in them."""
    found = judged(groups, version=1)
    assert canonical(found.scales) == canonical(judged().scales)
    assert [part.heading for part in found.agreements] == headings


@dataclass
class Cell:
    served: dict[str, list[str]]


def study_of(root: Path, models: Mapping[str, str]) -> Study:
    """Write a study whose judges are at an address and a model each: judge -> "port model"."""
    study = write_study(root, "http://127.0.0.1:9", tuple(models))
    path = study.folder / "study.toml"
    text = path.read_text()
    for judge, place in models.items():
        port, model = place.split()
        text = text.replace(
            f'[models.{judge}]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "{judge}"',
            f'[models.{judge}]\nbase_url = "http://127.0.0.1:{port}"\nmodel = "{model}"',
        )
    path.write_text(text)
    return Study(study.folder)


def test_one_model_is_an_address_and_a_name_that_is_asked_for_or_served(tmp_path: Path) -> None:
    """A slash at the end is no other address; a served name joins; another address does not."""
    places = {"a": "9/v1 m", "b": "9/v1/ m", "c": "9/v1 latest", "d": "8/v1 m", "e": "9/v1 n"}
    study = study_of(tmp_path, places)
    assert one_model(study) == [Phrasings("m", ["a", "b"])]
    served = Cell({"c": ["m-2026"], "b": ["m-2026"], "d": ["m-2026"], "e": ["n"]})
    assert one_model(study, [served]) == [Phrasings("m", ["a", "b", "c"])]


def command(*words: object) -> str:
    runner = CliRunner(env={"COLUMNS": "250"})
    done = runner.invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


def test_tables_results_and_report_name_self_consistency(tmp_path: Path) -> None:
    """A recorded study of two phrasings: analyze, results.json and the page say it alike."""
    with Loopback(examining()) as server:
        study = write_study(tmp_path, server.url, ("judge-fit", "judge-copy"))
        path = study.folder / "study.toml"
        path.write_text(path.read_text().replace('model = "judge-copy"', 'model = "judge-fit"'))
        record(str(study.folder))
    heading = "Self-consistency of judge-fit (2 phrasings), not agreement between judges"
    none = "Agreement between models: none, every judge is judge-fit"
    found = json.loads(study.results.read_text())["analysis"]["jury"]
    assert (found["heading"], found["self_consistency"][0]["heading"]) == (none, heading)
    assert found["scales"][0]["agreement"]["alpha"]["value"] is None
    assert found["self_consistency"][0]["scales"][0]["agreement"]["variance"]["value"] == 0.0
    shown = command("analyze", study.folder)
    page = tmp_path / "page.html"
    command("report", study.folder, "-o", page)
    for text in (shown, page.read_text()):
        assert heading in text and none in text
        assert "Agreement of the judges" not in text
    assert "OK" in command("replay", study.folder)
