"""What a DDFT study says beyond its subjects' metrics: arXiv 2512.23850v2, sections 6 to 8.

Only the arm "paper" enters; other arms are compared with it in a block of their own (`arms`), and
`usage` counts the calls of all. Whatever is about subjects is over those with a complete grid;
whatever is about judges is over every judgement. The order of cells, judges and subjects changes no
byte: everything is sorted first, and sums are exactly rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.errors import UsageError
from harness.protocols.ddft.analysis import predictions as predicted
from harness.protocols.ddft.analysis import profiles, reliability, sessions
from harness.protocols.ddft.analysis.agreement_intervals import agreement_intervals
from harness.protocols.ddft.analysis.correlates import TRAP, correlations, turn_means
from harness.protocols.ddft.analysis.domains import compare_domains, concept_power, grand_means
from harness.protocols.ddft.analysis.evaluations import (
    PAPER,
    evaluations,
    rescored,
    sorted_cells,
    without_turn,
)
from harness.protocols.ddft.analysis.inference import inference
from harness.protocols.ddft.analysis.multiverse import multiverse
from harness.protocols.ddft.analysis.phenotypes import phenotypes
from harness.protocols.ddft.analysis.resamples import Resamples
from harness.protocols.ddft.analysis.schema import Analysis, Facts, Thresholds
from harness.protocols.ddft.analysis.stability import stability
from harness.protocols.ddft.dialogue.materials import PROTOCOL_VERSION
from harness.protocols.ddft.metrics.scoring import MetricRules
from harness.results import CellResult, Phrasings, SubjectMetrics, Value
from harness.stats.fewest import FEWEST
from harness.stats.resampling import MOST_UNDEFINED

THRESHOLDS = Thresholds(
    fewest=FEWEST,
    far_fall=profiles.FAR_FALL,
    sas_fall=profiles.SAS_FALL,
    clear_above=reliability.CLEAR_ABOVE,
    edge_above=reliability.EDGE_ABOVE,
    edge_below=reliability.EDGE_BELOW,
    informative_below=sessions.INFORMATIVE_BELOW,
    alpha=predicted.ALPHA,
)


def analyze(
    cells: Sequence[CellResult],
    subjects: Sequence[SubjectMetrics],
    rules: MetricRules,
    facts: Mapping[str, Facts],
    domains: Mapping[str, str],
    seed: int,
    one_model: Sequence[Phrasings] = (),
    version: int = PROTOCOL_VERSION,
) -> Analysis:
    """Analyse a study: its cells, its subjects as scored under `rules`, and facts about them.

    domains: the domain of every concept; raises UsageError where one is missing. one_model: judges
    that are one model; version: of the protocol, which says if they are one judge. Correlations,
    intervals over subjects and verdicts are undefined below four subjects, after listwise deletion.
    """
    chosen = sorted((s for s in subjects if s.arm == PAPER), key=lambda s: s.subject)
    complete = {subject.subject for subject in chosen if subject.complete}
    paper = sorted_cells(cells, PAPER)
    kept = [cell for cell in paper if cell.cell.subject in complete]
    rows = evaluations(kept)
    # what was recorded under version 1 has an interval however many resamples were undefined
    resamples = Resamples(seed, most_undefined=1.0 if version == 1 else MOST_UNDEFINED)
    _require_domains({e.concept for e in rows}, domains)
    apart = rescored(without_turn(kept, TRAP), rules)
    found = correlations(chosen, apart, turn_means(rows), facts, resamples)
    by_domain = compare_domains(rows, domains, resamples)
    each = profiles.profiles(chosen, rows, phenotypes(rows, rules, resamples))
    danger = profiles.danger_by_phenotype(chosen)
    turn_4 = found.turns[TRAP - 1]
    certain = agreement_intervals(paper, one_model, version)
    return Analysis(
        arm=PAPER,
        complete_subjects=Value(float(len(complete)), len(chosen)),
        thresholds=THRESHOLDS,
        correlations=found,
        jury=reliability.jury(paper, kept, chosen, rules, one_model, version),
        domains=by_domain,
        grand_means=grand_means(rows, resamples),
        stability=stability(kept, chosen, apart, rules),
        turns=sessions.turn_summaries(rows),
        follow_up=sessions.follow_up(rows),
        concepts=concept_power(rows, domains),
        retest=sessions.retest(rows),
        profiles=each,
        danger_by_phenotype=danger,
        predictions=predicted.predictions(danger, each, turn_4, by_domain, resamples),
        arms=sessions.arms(cells, complete),
        multiverse=multiverse(chosen, rules),
        usage=sessions.usage(cells),
        inference=inference(rows, chosen, found, facts, domains, rules, certain),
    )


def _require_domains(concepts: set[str], domains: Mapping[str, str]) -> None:
    missing = sorted(concepts - set(domains))
    if missing:
        raise UsageError(
            f"the concepts {', '.join(missing)} have no domain; expected one for each concept of "
            "the cells. The study's materials name them."
        )
