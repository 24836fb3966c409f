"""DepthCharge as recording, replay and the commands need it."""

from __future__ import annotations

from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from harness.asking.sources.inquiry import Window
from harness.fitness.habits import habits
from harness.page.page import ProtocolPage
from harness.page.replayed_study import ReplayedStudy
from harness.protocols.depthcharge.drill import imagined as estimates
from harness.protocols.depthcharge.drill import placeholders
from harness.protocols.depthcharge.drill.drill import Drill
from harness.protocols.depthcharge.drill.gold import examples, gold_exam, utterances
from harness.protocols.depthcharge.drill.materials import SUPPORTED_VERSIONS, present_materials
from harness.protocols.depthcharge.drill.rules import DrillRules, People
from harness.protocols.depthcharge.study_table import DepthChargePlan, depthcharge_plan
from harness.protocols.seam import Axis, Changes, Held, StudyProtocol, Surroundings
from harness.results import (
    AnswerCounts,
    DrillResults,
    DrillTranscript,
    Fitness,
    Gold,
    GoldResult,
    Materials,
    RunKey,
    RunResult,
)
from harness.results.bounds import Bound, Bounds
from harness.results.depthcharge import MISSING, UNVERIFIABLE
from harness.results.growth import AddedFields
from harness.results.scored import Scored
from harness.results.table import Table
from harness.stats.fewest import FEWEST
from harness.study.folder import Study

if TYPE_CHECKING:
    from harness.protocols.depthcharge.metrics.scoring import DrillMetricRules

DEFAULTS = StudyProtocol()  # of what a drill does not have: pilots, another jury, classes
PLAN = DepthChargePlan
VERSIONS: tuple[int, ...] = SUPPORTED_VERSIONS
PLACEHOLDERS = placeholders.PLACEHOLDERS
EXAMINED, JUDGING = "target", "evaluator_task"
CAN_REJUDGE = False
imagined = estimates.imagined
ADDED: AddedFields = {
    2: frozenset(
        {
            "analysis.accuracy_rankings[].coefficient",
            "analysis.cells[].lookups",
            "analysis.cells[].role_costs",
            "analysis.cells[].short",
            "analysis.cells[].two_way",
            "analysis.cells[].two_way_se",
            "analysis.differences[].two_way",
            "analysis.differences[].two_way_se",
            "analysis.domain_rankings[].coefficient",
            "analysis.smaller_q",
            "analysis.other_thetas[].cells[].short",
            "analysis.targets[].short",
            "cells[].probes[].form",
            "rules.survival_cut",
            "rules.unverifiable_limit",
            "runs[].evd.if_questions_were_independent",
            "runs[].evd.seed_spread",
            "runs[].evd.two_way",
            "runs[].evd.two_way_se",
            "runs[].short",
        }
    )
}
CALLS_A_QUESTION = 5  # directions, a look-up, a question, an answer, a verdict


def fresh(study: Study) -> Materials:  # noqa: ARG001  # its texts come from its sources
    """Return the materials that a new study freezes."""
    return present_materials()


def cell(study: Study, key: RunKey, materials: Materials, around: Surroundings) -> Drill:
    """Set up one run."""
    people = People(around.models, around.sources, around.each, around.heard)
    return Drill(key, _rules(study, materials, key.domain), materials, people)


def with_gold(study: Study, materials: Materials, gold: Gold) -> Materials:  # noqa: ARG001
    """Return materials with a gold set's facts."""
    return msgspec.structs.replace(materials, gold=Gold(facts=gold.facts))


def exam(study: Study, materials: Materials, around: Surroundings) -> Held:
    """Set up the gold set for the evaluator."""
    return gold_exam(_rules(study, materials), materials, around)


def fitness(
    study: Study,
    materials: Materials,
    taken: GoldResult | None,
    cells: Sequence[RunResult],
    transcripts: Sequence[DrillTranscript],
) -> list[Fitness]:
    """Return whether the evaluator is fit, by the gold set and by what is recorded."""
    from harness.fitness.fitness import (  # loads scipy; a replay's processes need none
        evaluator_fitness,
        without_gold,
    )

    name = depthcharge_plan(study).evaluator
    worked = examples(materials)
    judged = list(utterances(cells, transcripts, _rules(study, materials), worked))
    habit = habits(name, judged, worked)
    if not any(utterance.scores[0] is True for utterance in judged):
        habit.distinct = 0
    if taken is None or materials.gold is None:
        return [without_gold(name, habit)]
    return [evaluator_fitness(name, materials.gold.facts, taken.verdicts[name], habit)]


def _rules(study: Study, materials: Materials, domain: str = "") -> DrillRules:
    """Return the rules of a run in a domain, by default the first."""
    drill = depthcharge_plan(study)
    return DrillRules(
        version=materials.protocol_version,
        seed=study.file.seed,
        extractor=drill.extractor,
        evaluator=drill.evaluator,
        directions=drill.directions or drill.extractor,
        questions=drill.questions,
        branches=drill.branches or drill.questions,
        theta=drill.theta,
        tiers=[drill.tier_at(depth) for depth in range(1, drill.max_depth + 1)],
        sources={
            tier: tuple(names)
            for tier, names in drill.sources_of(domain or drill.domains[0]).items()
        },
        recent=recent(study),
        redeals=drill.redeals,
        history=drill.history,
        answerable_check=drill.answerable_check,
        params=study.file.params_of_role,
        evaluator_form=drill.evaluator_form,
    )


def recent(study: Study) -> Window:
    """Return the months before the study's date, which the newest tier searches."""
    end = study.file.as_of
    months = end.year * 12 + end.month - 1 - depthcharge_plan(study).recent_months
    year, month = divmod(months, 12)
    day = min(end.day, monthrange(year, month + 1)[1])
    return Window(end.replace(year, month + 1, day).isoformat(), end.isoformat())


pilot_cells, pilot_lines = DEFAULTS.pilot_cells, DEFAULTS.pilot_lines
attributions, attribution_tables = DEFAULTS.attributions, DEFAULTS.attribution_tables
is_judgement, jury_tables = DEFAULTS.is_judgement, DEFAULTS.jury_tables


def stalls(results: DrillResults) -> list[str]:
    """Return the runs in which no question was asked, and why."""
    return list(_stalls(results))


def _stalls(results: DrillResults) -> Iterator[str]:
    for run in results.cells:
        if any(probe.state != UNVERIFIABLE for probe in run.probes if probe.depth == 1):
            continue
        reasons = Counter(probe.reason or "no reason" for probe in run.probes)
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        yield f"{run.cell.name}: no question was asked; its slots ended with: {listed}."


def calls_a_cell(study: Study) -> int:
    """Return how many calls a run makes that goes to its greatest depth."""
    drill = depthcharge_plan(study)
    return 1 + drill.questions * drill.max_depth * CALLS_A_QUESTION


def missing(results: Sequence[RunResult]) -> int:
    """Count the verdicts that are missing."""
    return sum(probe.state == MISSING for result in results for probe in result.probes)


def answers(results: Sequence[RunResult]) -> AnswerCounts:
    """Count the targets' answers by kind."""
    from harness.protocols.depthcharge.metrics.scoring import answers_of

    return answers_of(results)


def scored(study: Study, materials: Materials, cells: Sequence[RunResult]) -> DrillResults:
    """Compute metrics from finished runs."""
    from harness.protocols.depthcharge.metrics.scoring import score_study

    version = materials.protocol_version
    rules = metric_rules(study)
    return score_study(study.name, version, cells, rules, materials.prices)


def metric_rules(study: Study) -> DrillMetricRules:
    """Return the rules of the metrics as the study file makes them."""
    from harness.protocols.depthcharge.metrics.scoring import DrillMetricRules

    drill = depthcharge_plan(study)
    return DrillMetricRules(
        questions=drill.questions,
        passes=drill.passes,
        theta=drill.theta,
        max_depth=drill.max_depth,
        missing_limit=drill.missing_limit,
        seed=study.file.seed,
        unverifiable_limit=drill.unverifiable_limit,
        survival_cut=drill.survival_cut,
    )


def score(study: Study, materials: Materials, cells: Sequence[RunResult]) -> DrillResults:
    """Compute a study's results, its study-level analysis among them."""
    from harness.protocols.depthcharge.analysis.analyze import analyze

    results, drill = scored(study, materials, cells), depthcharge_plan(study)
    planned = len(drill.domains) * drill.repeats
    rules = metric_rules(study)
    roles = {
        "extractor": drill.extractor,
        "evaluator": drill.evaluator,
        "directions": drill.directions or drill.extractor,
    }
    results.analysis = analyze(results, rules, materials.prices, planned, roles)
    return results


def tables(results: DrillResults) -> list[Table]:
    """Return the results as tables."""
    from harness.protocols.depthcharge.analysis import tables

    return tables.tables(results)


def rows(materials: Materials, results: DrillResults) -> list[Sequence[object]]:  # noqa: ARG001
    """Return one row a probe, the columns' names first."""
    from harness.protocols.depthcharge.metrics import probes

    return [probes.HEADER, *probes.rows(results.cells)]


def bounds(study: Study, results: DrillResults) -> Bounds:
    """Return what missing verdicts could change at most."""
    from harness.protocols.depthcharge.metrics.bounds import bounds as of_runs

    bounds = [
        Bound(bound.cell.name, bound.measure, bound.found, bound.low, bound.high)
        for bound in of_runs(results.runs, depthcharge_plan(study).theta)
    ]
    about = (
        "Every missing verdict taken for a wrong answer, and for a right one, over the depths that "
        "were asked."
    )
    return Bounds(bounds, about)


def findings(results: DrillResults) -> list[str]:
    """Return what a study found, in sentences, most important first."""
    from harness.protocols.depthcharge.analysis import findings

    return findings.findings(results)


def page(
    study: Study,  # noqa: ARG001
    replayed: ReplayedStudy[DrillResults, DrillTranscript],
) -> ProtocolPage:
    """Return what is on a study's page beside its tables."""
    from harness.protocols.depthcharge.page import page

    return page.page(replayed)


def may_ask_again(call: str) -> bool:
    """Tell whether a call is made once more where its reply cannot be used."""
    return not call.endswith("/target")


def is_bounded(study: Study) -> bool:  # noqa: ARG001
    """Tell that it is not: where facts are missing, more look-ups and questions are tried."""
    return False


def undefined_by_rule(study: Study) -> list[str]:
    """Say what the study's size leaves undefined, and what helps."""
    targets = len(depthcharge_plan(study).targets)
    if targets >= FEWEST:
        return []
    return [f"{targets} targets: Kendall's tau between domains is undefined; it needs {FEWEST}"]


def scoreboard(results: DrillResults) -> list[Scored]:
    """Return every metric of every model, in the order of the results."""
    from harness.protocols.depthcharge.metrics import scoreboard

    return scoreboard.scoreboard(results)


def partly_scored(study: Study, materials: Materials, cells: Sequence[RunResult]) -> DrillResults:
    """Compute metrics of some of a study's cells, without the analysis."""
    return scored(study, materials, cells)


def axes(study: Study) -> list[Axis]:
    """Return what of a grid a sample may leave out, what is missed most first."""
    drill = depthcharge_plan(study)
    repeats = Axis("repeats", range(1, drill.repeats + 1), is_counted=True)
    return [Axis("domains", drill.domains), repeats]


def words(transcript: DrillTranscript) -> Mapping[str, str]:
    """Return everything that was said in a drill, by the names of its calls, in order."""
    from harness.protocols.depthcharge.analysis import words

    return words.words(transcript)


def cell_scores(results: DrillResults) -> Mapping[str, Mapping[str, float | None]]:
    """Return each run's scores by its name."""
    from harness.protocols.depthcharge.analysis import words

    return words.cell_scores(results)


def changes(
    before: Study,  # noqa: ARG001
    old: DrillResults,
    after: Study,  # noqa: ARG001
    new: DrillResults,
) -> Changes:
    """Return how sure the changes of metrics between two recordings are.

    Both results hold their runs in the order of their cells.
    """
    from harness.protocols.depthcharge.analysis.words import evd_interval

    places = [
        (scored.model, scored.place, scored.metric.id)
        for scored in scoreboard(old)
        if scored.metric.name == "EVD"
    ]
    runs = [zip(side.runs, side.cells, strict=True) for side in (old, new)]
    by_place = {place: evd_interval(*both) for place, *both in zip(places, *runs, strict=True)}
    return Changes(by_place, "of one run only EVD has an error")


def judges(study: Study) -> list[str]:
    """Return the evaluator."""
    return [depthcharge_plan(study).evaluator]
