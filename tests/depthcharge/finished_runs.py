"""Finished runs made of counts or of simulated answers: no recording, any size."""

from collections.abc import Iterable, Sequence
from random import Random

from depthcharge.simulated_runs import Answer, World, drill

from harness.protocols.depthcharge.analysis.analyze import analyze
from harness.protocols.depthcharge.metrics.formulas import curve, known
from harness.protocols.depthcharge.metrics.scoring import DrillMetricRules, score_study
from harness.results import Depth, DrillResults, Prices, Probe, RunKey, RunResult, Usage
from harness.results.depthcharge import ASKED, MISSING, UNVERIFIABLE

RULES = DrillMetricRules(
    questions=30, passes=3, theta=0.2, max_depth=15, missing_limit=0.05, seed=42
)
ERRORS = ("omission", "conflation", "fabrication")


def asked(depth: int, question: int, branch: int, correct: bool, deal: int = 1) -> Probe:
    """Give a probe with a verdict."""
    probe = Probe(depth, question, deal, question, branch, 1, ASKED, "wikipedia", "ok", "ok")
    probe.correct, probe.confidence = correct, 0.9
    probe.error_type = None if correct else ERRORS[question % 3]
    return probe


def unverifiable(depth: int, question: int, deal: int = 1) -> Probe:
    """Give a probe whose directions had no fact."""
    return Probe(depth, question, deal, question, question, 3, UNVERIFIABLE)


def missing(depth: int, question: int, deal: int = 1) -> Probe:
    """Give a probe whose verdict is not usable."""
    return Probe(depth, question, deal, question, question, 1, MISSING, "corpus", "ok", "prose")


def counted(correct: Sequence[int], n: int | Sequence[int] = 30) -> list[Probe]:
    """Give probes with so many right answers at each depth, question i on branch i."""
    sizes = [n] * len(correct) if isinstance(n, int) else n
    return [
        asked(depth, question, question, question <= right)
        for depth, (right, size) in enumerate(zip(correct, sizes, strict=True), 1)
        for question in range(1, size + 1)
    ]


def depths_of(correct: Sequence[int], n: int | Sequence[int] = 30) -> list[Depth]:
    """Give the curve of a run with so many right answers at each depth."""
    return curve(counted(correct, n), len(correct), 30, RULES.passes)


def probes_of(answers: Iterable[Answer]) -> list[Probe]:
    """Give the probes of a simulated drill."""
    return [asked(one.depth, one.question, one.branch, one.correct) for one in answers]


def run_of(probes: list[Probe], key: RunKey, rules: DrillMetricRules = RULES) -> RunResult:
    """Give a finished run with these probes, stopped as the rules say."""
    depths = max(probe.depth for probe in probes)
    values = known(curve(probes, depths, rules.questions, rules.passes))
    stop = "max depth" if depths == rules.max_depth else "no path left"
    stop = "theta" if values and round(values[-1], 9) < rules.theta else stop
    usage = {key.target: Usage(len(probes), 100 * len(probes), 50 * len(probes))}
    usage["helper"] = Usage(10, 1000, 100)
    return RunResult(key, 30, depths, stop, probes, {}, usage, {})


def study(
    targets: dict[str, World],
    domains: Sequence[str] = ("Law", "Medicine"),
    repeats: int = 2,
    rules: DrillMetricRules = RULES,
    prices: Prices | None = None,
    seed: int = 7,
) -> DrillResults:
    """Give the results of a study of simulated targets, its analysis among them."""
    chance = Random(seed)
    cells = [
        run_of(
            probes_of(drill(world, chance, rules.questions, rules.theta)),
            RunKey(target, domain, repeat),
            rules,
        )
        for target, world in targets.items()
        for domain in domains
        for repeat in range(1, repeats + 1)
    ]
    return scored(cells, rules, prices)


def scored(
    cells: Sequence[RunResult], rules: DrillMetricRules = RULES, prices: Prices | None = None
) -> DrillResults:
    """Give the results of some runs, the analysis among them."""
    found = score_study("made", 2, cells, rules, prices)
    found.analysis = analyze(found, rules, prices)
    return found
