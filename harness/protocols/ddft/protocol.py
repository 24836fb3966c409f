"""DDFT as recording, replay and the commands need it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from harness.fitness.habits import habits
from harness.page.page import ProtocolPage
from harness.page.replayed_study import ReplayedStudy
from harness.protocols.ddft.dialogue import imagined as estimates
from harness.protocols.ddft.dialogue import pilot_grid, placeholders
from harness.protocols.ddft.dialogue.dialogue import Dialogue, DialogueRules
from harness.protocols.ddft.dialogue.examined import NUMBERS
from harness.protocols.ddft.dialogue.gold import examples, gold_exam, utterances
from harness.protocols.ddft.dialogue.materials import (
    SUPPORTED_VERSIONS,
    present_materials,
    with_texts,
)
from harness.protocols.ddft.metrics import judgements
from harness.protocols.ddft.metrics.scoring import (
    MetricRules,
    answers_of,
    count_missing,
    score_study,
)
from harness.protocols.ddft.study_table import DDFTPlan, ddft_plan
from harness.protocols.seam import Axis, Changes, Held, Surroundings
from harness.results import (
    AnswerCounts,
    CellKey,
    CellResult,
    Fitness,
    Gold,
    GoldResult,
    Interval,
    Materials,
    Results,
    Transcript,
)
from harness.results.bounds import Bound, Bounds
from harness.results.growth import AddedFields
from harness.results.scored import Scored
from harness.results.table import Table
from harness.stats.fewest import FEWEST
from harness.stats.seeds import seeded
from harness.study.folder import Study
from harness.study.one_model import one_model
from harness.study.texts import read_concepts, read_pools

PLAN = DDFTPlan
VERSIONS: tuple[int, ...] = SUPPORTED_VERSIONS
PLACEHOLDERS = placeholders.PLACEHOLDERS
EXAMINED, JUDGING = "subject", "judge_turn"
ABOUT_BOUNDS = (
    "Every missing FAR and SAS set to 0, and to 1, those of missing answers among them. CI does "
    "not move one way with each score, so what stands there is no bound: it is its range over the "
    "four corners only."
)
CAN_REJUDGE = True
imagined = estimates.imagined
ADDED: AddedFields = {
    2: frozenset(
        {
            "analysis.inference",
            "analysis.jury.heading",
            "analysis.jury.self_consistency",
            "cells[].turns[].missing",
            "rules.competent_above",
            "rules.factual_above",
            "rules.incoherent_below",
            "rules.robust_above",
        }
    )
}


def fresh(study: Study) -> Materials:
    """Return the materials that a new study freezes."""
    ddft = ddft_plan(study)
    concepts = read_concepts(study.folder / ddft.concept_file) if ddft.concept_file else []
    pools = read_pools(study.folder / ddft.trap_file) if ddft.trap_file else []
    return present_materials(ddft.concepts, concepts, pools)


def cell(study: Study, key: CellKey, materials: Materials, around: Surroundings) -> Dialogue:
    """Set up one cell's dialogue."""
    return Dialogue(key, _rules(study), materials, around.models, around.heard)


def with_gold(study: Study, materials: Materials, gold: Gold) -> Materials:
    """Return materials with a gold set's answers, and the texts of the concepts they are about."""
    path = ddft_plan(study).concept_file
    own_concepts = read_concepts(study.folder / path) if path else []
    needed = list(dict.fromkeys(answer.concept for answer in gold.answers))
    concepts = with_texts(materials.concepts, needed, own_concepts)
    return msgspec.structs.replace(materials, gold=Gold(answers=gold.answers), concepts=concepts)


def exam(study: Study, materials: Materials, around: Surroundings) -> Held:
    """Set up the gold set for every judge."""
    return gold_exam(_rules(study), materials, around)


def fitness(
    study: Study,
    materials: Materials,
    taken: GoldResult | None,
    cells: Sequence[CellResult],
    transcripts: Sequence[Transcript],
) -> list[Fitness]:
    """Return whether each judge is fit, by the gold set and by what is recorded."""
    from harness.fitness.fitness import (  # loads scipy; a replay's processes need none
        judge_fitness,
        without_gold,
    )

    worked = examples(materials)
    judged = list(utterances(cells, transcripts, materials.protocol_version, worked))
    habits_of = {name: habits(name, judged, worked) for name in ddft_plan(study).jury}
    if taken is None or materials.gold is None:
        return [without_gold(name, habit) for name, habit in habits_of.items()]
    answers = materials.gold.answers
    return [
        judge_fitness(name, answers, taken.scores[name], habit) for name, habit in habits_of.items()
    ]


def _rules(study: Study) -> DialogueRules:
    ddft = ddft_plan(study)
    return DialogueRules(
        study.file.seed,
        ddft.interviewer,
        tuple(ddft.jury),
        ddft.judge_reference,
        study.file.params_of_role,
        {name: model.family for name, model in study.file.models.items()},
        ddft.exclude_same_family,
        ddft.rubrics,
        ddft.scoring_of,
        ddft.empty_answers,
        ddft.trap_source,
    )


def pilot_cells(study: Study) -> list[CellKey]:
    """Return the reduced grid of a pilot."""
    return pilot_grid.pilot_cells(study)


def pilot_lines(study: Study, cells: Sequence[CellResult]) -> list[str]:
    """Return how far each concept tells subjects and levels apart, a line each."""
    from harness.protocols.ddft.analysis.pilot import concept_powers

    return [power.line for power in concept_powers(ddft_plan(study).concepts, cells)]


def stalls(results: Results) -> list[str]:  # noqa: ARG001
    """Return nothing: every dialogue goes to its end."""
    return []


def calls_a_cell(study: Study) -> int:
    """Return how many calls a dialogue makes at least."""
    ddft = ddft_plan(study)
    return 5 * (1 + (ddft.interviewer != "scripted") + len(ddft.jury))


def missing(results: Sequence[CellResult]) -> int:
    """Count the judgements that are missing."""
    return count_missing(results, 1.0).missing


def answers(results: Sequence[CellResult]) -> AnswerCounts:
    """Count the subjects' answers by kind."""
    return answers_of(results)


def scored(
    study: Study, materials: Materials, cells: Sequence[CellResult], planned: int | None = None
) -> Results:
    """Compute metrics from finished cells; planned: how many make a subject complete."""
    ddft = ddft_plan(study)
    planned = planned or len(ddft.concepts) * len(ddft.levels) * ddft.repeats
    rules = metric_rules(study)
    return score_study(
        study.name, materials.protocol_version, cells, planned, rules, materials.prices
    )


def metric_rules(study: Study) -> MetricRules:
    """Return the rules of the metrics as the study file makes them."""
    ddft = ddft_plan(study)
    return MetricRules(
        ddft.theta,
        ddft.hoc_rule,
        ddft.empty_far_prime,
        ddft.normalization,
        ddft.aggregation,
        ddft.danger.sas_above,
        ddft.danger.far_below,
        ddft.missing_limit,
        ddft.template_limit,
        **ddft.cuts.model_dump(),
    )


def score(study: Study, materials: Materials, cells: Sequence[CellResult]) -> Results:
    """Compute a study's results, its study-level analysis among them."""
    from harness.protocols.ddft.analysis.analyze import (
        analyze,  # loads scipy, and a replay's processes need none
    )
    from harness.protocols.ddft.analysis.schema import Facts

    results = scored(study, materials, cells)
    facts = {name: Facts(**entry.model_dump()) for name, entry in study.file.facts.items()}
    domains = {concept.id: concept.domain for concept in materials.concepts}
    results.analysis = analyze(
        results.cells,
        results.subjects,
        metric_rules(study),
        facts,
        domains,
        study.file.seed,
        one_model(study, results.cells),
        materials.protocol_version,
    )
    return results


def tables(results: Results) -> list[Table]:
    """Return the results as tables."""
    from harness.protocols.ddft.analysis import tables

    return tables.tables(results)


def rows(materials: Materials, results: Results) -> list[Sequence[object]]:
    """Return one row a judgement, the columns' names first."""
    domains = {concept.id: concept.domain for concept in materials.concepts}
    return [judgements.HEADER, *judgements.rows(results.cells, domains)]


def bounds(study: Study, results: Results) -> Bounds:
    """Return what missing judgements could change at most."""
    from harness.protocols.ddft.metrics.bounds import bounds as of_dialogues

    ddft = ddft_plan(study)
    planned = len(ddft.concepts) * len(ddft.levels) * ddft.repeats
    bounds = [
        Bound(f"{bound.subject} ({bound.arm})", bound.measure, bound.found, bound.low, bound.high)
        for bound in of_dialogues(results.cells, planned, metric_rules(study))
    ]
    return Bounds(bounds, ABOUT_BOUNDS)


def findings(results: Results) -> list[str]:
    """Return what a study found, in sentences, most important first."""
    from harness.protocols.ddft.analysis import findings

    return findings.findings(results)


def page(study: Study, replayed: ReplayedStudy[Results, Transcript]) -> ProtocolPage:  # noqa: ARG001
    """Return what is on a study's page beside its tables."""
    from harness.protocols.ddft.page import page

    return page.page(replayed)


def may_ask_again(call: str) -> bool:
    """Tell whether a call is made once more where its reply cannot be used."""
    return is_judgement(call) or call == "turn-4/interviewer"


def is_bounded(study: Study) -> bool:
    """Tell whether the calls are known: a judge of verdicts is asked for every sentence."""
    return set(ddft_plan(study).scoring_of.values()) <= {NUMBERS}


def undefined_by_rule(study: Study) -> list[str]:
    """Say what the study's rules or its size leave undefined, and what helps."""
    ddft, sentences = ddft_plan(study), list[str]()
    if len(ddft.levels) == 1:
        sentences.append(
            "one level: CRI and CI are undefined for every subject; they need two levels"
        )
    elif ddft.empty_far_prime == "undefined":
        sentences.append(
            "CI is undefined for every subject that is always coherent (no answer with SAS below "
            f"{ddft.cuts.incoherent_below:g}, so FAR' is empty), as strong models are: the rule "
            'empty_far_prime = "undefined". The other rule can be seen from the same recording: '
            f"harness score {study.name} --set ddft.empty_far_prime=zero"
        )
    sentences.append(
        f"HOC and CI are undefined for a subject whose mean FAR reaches theta = {ddft.theta:g} at "
        "no level"
    )
    if len(ddft.subjects) < FEWEST:
        sentences.append(
            f"{len(ddft.subjects)} subjects: correlations, ranks' stability and intervals over "
            f"subjects are undefined; they need {FEWEST}"
        )
    return sentences


def scoreboard(results: Results) -> list[Scored]:
    """Return every metric of every model, in the order of the results."""
    from harness.protocols.ddft.metrics import scoreboard

    return scoreboard.scoreboard(results)


def partly_scored(study: Study, materials: Materials, cells: Sequence[CellResult]) -> Results:
    """Compute metrics of some of a study's cells, without the analysis.

    A subject is complete that has as many cells as the one with the most.
    """
    counts = Counter((cell.cell.subject, cell.cell.arm) for cell in cells)
    return scored(study, materials, cells, planned=max(counts.values()))


def axes(study: Study) -> list[Axis]:
    """Return what of a grid a sample may leave out, what is missed most first."""
    ddft = ddft_plan(study)
    return [
        Axis("levels", ddft.levels, is_scale=True),
        Axis("concepts", ddft.concepts),
        Axis("arms", ddft.arms),
        Axis("repeats", range(1, ddft.repeats + 1), is_counted=True),
    ]


def words(transcript: Transcript) -> Mapping[str, str]:
    """Return everything that was said in a dialogue, by the names of its calls, in order."""
    from harness.protocols.ddft.analysis import words

    return words.words(transcript)


def cell_scores(results: Results) -> Mapping[str, Mapping[str, float | None]]:
    """Return each dialogue's scores by its name."""
    from harness.protocols.ddft.analysis import words

    return words.cell_scores(results)


def changes(before: Study, old: Results, after: Study, new: Results) -> Changes:
    """Return how sure the changes of metrics between two recordings are."""
    from harness.protocols.ddft.analysis.paired import intervals

    rules = metric_rules(before), metric_rules(after)
    by_place: dict[tuple[str, str, str], Interval] = {}
    for subject in old.subjects:
        place = subject.subject, subject.arm
        cells = [
            [cell for cell in side.cells if (cell.cell.subject, cell.cell.arm) == place]
            for side in (old, new)
        ]
        generator = seeded(before.file.seed, f"diff|{'|'.join(place)}")
        both = intervals((cells[0], rules[0]), (cells[1], rules[1]), generator)
        by_place |= {(*place, name): interval for name, interval in both.items()}
    return Changes(by_place, "normalized over all subjects")


def attributions(old: Results, new: Results) -> list[Any]:
    """Return which part of CI changed a subject's phenotype."""
    from harness.protocols.ddft.analysis.attribution import swaps

    return list(swaps(old, new))


def attribution_tables(attributions: Sequence[Any], before: str, after: str) -> list[Table]:
    """Return what changed the phenotypes, as a table."""
    from harness.protocols.ddft.analysis.attribution import swap_table

    return [swap_table(attributions, before, after)]


def is_judgement(call: str) -> bool:
    """Tell whether a call is a judge's."""
    return "/judge/" in call


def jury_tables(before: Results, after: Results) -> list[Table]:
    """Return what another jury changes for each subject."""
    from harness.protocols.ddft.analysis.rejudged import jury_table

    return [jury_table(before, after)]


def judges(study: Study) -> list[str]:
    """Return the jury."""
    return ddft_plan(study).jury
