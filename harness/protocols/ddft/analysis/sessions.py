"""What the dialogues show turn by turn: variance, turn 5, repeats, other arms, calls and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.protocols.ddft.analysis.domains import variance
from harness.protocols.ddft.analysis.evaluations import (
    PAPER,
    SCALES,
    Evaluation,
    evaluations,
    grouped,
    sorted_cells,
)
from harness.protocols.ddft.analysis.schema import (
    ArmComparison,
    ArmSubject,
    FollowUp,
    Retest,
    TurnSummary,
)
from harness.protocols.ddft.metrics.formulas import PLACES, mean_value
from harness.results import CellResult, Usage, Value
from harness.stats import agreement
from harness.stats.proportions import wilson

TRAP, FOLLOW_UP = 4, 5
INFORMATIVE_BELOW = 0.5

Place = tuple[str, str, float, int]


def turn_summaries(rows: Sequence[Evaluation]) -> list[TurnSummary]:
    """Return each turn's mean scores and the variance of FAR over its evaluations (figure 1 A)."""
    far = grouped((e.turn, e.far) for e in rows)
    sas = grouped((e.turn, e.sas) for e in rows)
    spread = {turn: variance(scores) for turn, scores in far.items()}
    first = spread.get(1, Value(None, 0, "there is no turn 1"))
    return [
        TurnSummary(
            turn=turn,
            far=mean_value(far[turn], "no judgement"),
            sas=mean_value(sas[turn], "no judgement"),
            far_variance=spread[turn],
            ratio_to_turn_1=_ratio(spread[turn], first),
        )
        for turn in sorted(far)
    ]


def follow_up(rows: Sequence[Evaluation]) -> FollowUp:
    """Return the share of sessions with turn-4 FAR < 0.5: turn 5 is informative (section 3.1).

    Over the sessions whose turn 4 has a score, with Wilson's interval; and mean turn-5 FAR over
    the informative ones.
    """
    trap, after = _by_place(rows, TRAP), _by_place(rows, FOLLOW_UP)
    known = {place: far for place, far in trap.items() if far is not None}
    believed = [place for place, far in known.items() if round(far, PLACES) < INFORMATIVE_BELOW]
    later = [far for place in believed if (far := after.get(place)) is not None]
    n = len(known)
    share = Value(len(believed) / n, n) if n else Value(None, 0, "no judgement of turn 4")
    nothing = "no informative session with a judgement of turn 5"
    return FollowUp(share, wilson(len(believed), n), mean_value(later, nothing))


def retest(rows: Sequence[Evaluation]) -> list[Retest]:
    """Compare repeats of the same turn: ICC(1,1), and the mean |difference| of two repeats.

    Repeats are exchangeable, so the one-way ICC is theirs. One row a turn of a place in the grid;
    the ICC is over those that every repeat scored.
    """
    return [_retest(rows, scale) for scale in SCALES]


def arms(cells: Sequence[CellResult], subjects: Iterable[str]) -> list[ArmComparison]:
    """Compare every other arm with the paper's by mean turn-4 FAR, over cells held in both."""
    names = sorted(subjects)
    others = sorted({cell.cell.arm for cell in cells} - {PAPER})
    paper = _by_place(evaluations(sorted_cells(cells, PAPER)), TRAP)
    return [_arm(arm, names, paper, cells) for arm in others]


def usage(cells: Sequence[CellResult]) -> dict[str, Usage]:
    """Add up calls and tokens by model, over every arm: what the study took."""
    total: dict[str, Usage] = {}
    for cell in cells:
        for name, used in cell.usage.items():
            before = total.get(name, Usage())
            total[name] = Usage(
                before.calls + used.calls,
                before.prompt_tokens + used.prompt_tokens,
                before.completion_tokens + used.completion_tokens,
                before.calls_without_tokens + used.calls_without_tokens,
            )
    return dict(sorted(total.items()))


def _by_place(rows: Sequence[Evaluation], turn: int) -> dict[Place, float | None]:
    return {(e.subject, e.concept, e.level, e.repeat): e.far for e in rows if e.turn == turn}


def _ratio(one: Value, other: Value) -> Value:
    if one.value is None:
        return one
    if not other.value:
        return Value(None, one.n, other.reason or "turn 1 does not vary")
    return Value(one.value / other.value, one.n)


def _retest(rows: Sequence[Evaluation], scale: str) -> Retest:
    repeats = sorted({e.repeat for e in rows})
    if len(repeats) < 2:
        nothing = Value(None, 0, "no repeats")
        return Retest(scale, nothing, nothing)
    items: dict[tuple[str, str, float, int], dict[int, float | None]] = {}
    for e in rows:
        place = (e.subject, e.concept, e.level, e.turn)
        items.setdefault(place, {})[e.repeat] = e.score(scale)
    table = [[found.get(repeat) for repeat in repeats] for found in items.values()]
    return Retest(scale, agreement.icc(table)["ICC(1,1)"], agreement.mean_pair_difference(table))


def _arm(
    arm: str,
    names: Sequence[str],
    paper: dict[Place, float | None],
    cells: Sequence[CellResult],
) -> ArmComparison:
    other = _by_place(evaluations(sorted_cells(cells, arm)), TRAP)
    subjects = [_arm_subject(name, paper, other) for name in names]
    known = [s.difference.value for s in subjects if s.difference.value is not None]
    return ArmComparison(arm, subjects, mean_value(known, "no subject has both arms"))


def _arm_subject(
    name: str, paper: dict[Place, float | None], other: dict[Place, float | None]
) -> ArmSubject:
    pairs = [
        (far, there)
        for place, far in paper.items()
        if place[0] == name and far is not None and (there := other.get(place)) is not None
    ]
    nothing = "no cell has turn 4 scored in both arms"
    return ArmSubject(
        name,
        mean_value([far for far, _ in pairs], nothing),
        mean_value([there for _, there in pairs], nothing),
        mean_value([there - far for far, there in pairs], nothing),
    )
