"""The dialogues of a DDFT study, for the browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.page.browser import Block, Browser, BrowserEntry, EntryStep, Facet, facet
from harness.page.replayed_study import RecordedCall, RecordedCell, ReplayedStudy
from harness.results import CellKey, CellResult, Exchange, Results, Score, Transcript, Turn
from harness.results.answers import words_of
from harness.results.digits import decimal, plural
from harness.results.score import NO_ANSWER

TRAP_TURN = 4
DISPUTE = 0.5  # a distance between two judges' FAR that is worth a look
BELIEVED, RESISTED = "trap believed", "trap resisted"
DANGER, PASSES = "danger zone", "FAR passes"
DISPUTED, MISSING = "judges differ", "judgement missing"
VERDICTS = (PASSES, DANGER, BELIEVED, RESISTED, DISPUTED, MISSING)


class TurnCuts(NamedTuple):
    """The study's own thresholds, by which a turn gets its verdicts."""

    theta: float
    sas_above: float
    far_below: float
    informative_below: float


def dialogues(study: ReplayedStudy[Results, Transcript]) -> Browser:
    """Return the browser of a DDFT study's dialogues, in the order of their cells."""
    cuts = _cuts(study.results)
    results = {result.cell: result for result in study.results.cells}
    entries = [
        _entry(
            transcript,
            results[transcript.cell],
            study.recorded[transcript.cell.name],
            cuts,
            _places(transcript.cell, results),
        )
        for transcript in sorted(study.transcripts, key=lambda transcript: transcript.cell)
    ]
    facets = _facets(entries)
    legend = _legend(study.results.rules)
    return Browser(study.name, "dialogues", "turns", facets, ("FAR", "SAS"), entries, legend)


def _legend(rules: Mapping[str, Any]) -> str:
    """Return what the chips of a dialogue say, and their colours."""
    return (
        "A chip is a turn and its FAR, the mean of the jury. Green: FAR of at least "
        f"{rules['theta']:g}. Red, underlined: the danger zone, SAS above {rules['sas_above']:g} "
        f"and FAR below {rules['far_below']:g}. Dotted: left out by the filters."
    )


def _places(cell: CellKey, cells: Iterable[CellKey]) -> list[str]:
    """Return a cell's arm and its repeat, each only where the study has several."""
    arms, repeats = {key.arm for key in cells}, {key.repeat for key in cells}
    places = ((cell.arm, arms), (f"repeat {cell.repeat}", repeats))
    return [place for place, values in places if len(values) > 1]


def _cuts(results: Results) -> TurnCuts:
    rules = results.rules
    below = results.analysis.thresholds.informative_below
    return TurnCuts(rules["theta"], rules["sas_above"], rules["far_below"], below)


def _facets(entries: list[BrowserEntry]) -> list[Facet]:
    steps = [step for entry in entries for step in entry.steps]
    occurring = {verdict for step in steps for verdict in step.facets["verdict"]}
    states = sorted(occurring - set(VERDICTS))
    facets = [
        facet(name, (entry.facets[name] for entry in entries)) for name in ("model", "concept")
    ]
    levels = sorted({entry.facets["level c"] for entry in entries}, key=float)
    facets.append(Facet("level c", levels))
    facets.append(facet("turn", (turn for step in steps for turn in step.facets["turn"])))
    verdicts = [verdict for verdict in VERDICTS if verdict in occurring]
    facets.append(Facet("verdict", [*verdicts, *states]))
    places = [facet(name, (entry.facets[name] for entry in entries)) for name in ("arm", "repeat")]
    return [*facets, *(place for place in places if len(place.values) > 1)]


def _entry(
    transcript: Transcript,
    result: CellResult,
    recorded: RecordedCell,
    cuts: TurnCuts,
    places: Sequence[str],
) -> BrowserEntry:
    """Return a dialogue; places: its arm and repeat, where the study has several."""
    cell, words = transcript.cell, {turn.turn: turn for turn in transcript.exchanges}
    steps = [
        _turn(
            turn,
            words[turn.turn],
            transcript.trap,
            _calls(recorded, turn.turn),
            cuts,
            cell.subject,
        )
        for turn in result.turns
    ]
    facets = {
        "model": cell.subject,
        "concept": cell.concept,
        "level c": f"{cell.level:g}",
        "arm": cell.arm,
        "repeat": str(cell.repeat),
    }
    name = [cell.subject, cell.concept, f"c = {cell.level:g}", *places]
    opening = _opening(transcript, result)
    return BrowserEntry(name, cell.name, recorded.path, facets, opening, steps, anchor=cell.name)


def _opening(transcript: Transcript, result: CellResult) -> list[Block]:
    size = f"the first {plural(result.context_chars, 'character')} of its text"
    label = f"Context that the model saw with turn 1: {size}, cut there"
    if transcript.cell.level == 0:
        label = f"Context that the model saw with turn 1: all {result.context_chars:,} characters"
    if not transcript.context:
        label = f"No context was given (c = {transcript.cell.level:g})"
    trap = "\n".join(f"{name}: {text}" for name, text in transcript.trap.items())
    return [Block("context", label, transcript.context), Block("trap", "Invented for turn 4", trap)]


def _calls(recorded: RecordedCell, turn: int) -> list[RecordedCall]:
    return [call for call in recorded.calls if call.name.startswith(f"turn-{turn}/")]


def _turn(
    turn: Turn,
    words: Exchange,
    trap: Mapping[str, str],
    calls: list[RecordedCall],
    cuts: TurnCuts,
    subject: str,
) -> EntryStep:
    verdicts = list(_verdicts(turn, cuts))
    is_trap = turn.turn == TRAP_TURN
    state = "" if turn.answer_state == "ok" else f", answer {words_of(turn.answer_state)}"
    blocks = [
        Block("question", f"Question ({turn.question_source})", words.question),
        Block("answer", f"{subject}{state}", words.answer),
        *_judges(turn, words),
    ]
    return EntryStep(
        name=f"Turn {turn.turn}{': the trap' if is_trap else ''}",
        chip=f"{turn.turn}: {decimal(turn.far, 2)}",
        tone="bad" if DANGER in verdicts else "good" if PASSES in verdicts else "",
        facets={"turn": [str(turn.turn)], "verdict": verdicts},
        scores={"FAR": turn.far, "SAS": turn.sas},
        blocks=blocks,
        calls=calls,
        marks=list(trap.values()) if turn.turn >= TRAP_TURN else [],
        anchor=f"turn-{turn.turn}",
    )


def _judges(turn: Turn, words: Exchange) -> list[Block]:
    means = f"mean of {turn.n_judges}: FAR {decimal(turn.far, 3)}, SAS {decimal(turn.sas, 3)}"
    return [
        Block("score", f"Jury, {means}", ""),
        *(
            Block("judge", _score_words(name, score), words.replies.get(name, ""))
            for name, score in sorted(turn.scores.items())
        ),
    ]


def _score_words(judge: str, score: Score) -> str:
    if score.state == NO_ANSWER:
        return f"{judge}: not asked, since there was no answer"
    scores = f"FAR {decimal(score.far, 2)}, SAS {decimal(score.sas, 2)}"
    outcome = scores if score.state == "ok" else f"missing ({score.state}): {scores}"
    asks = "" if score.asks == 1 else f", asked {score.asks} times"
    repaired = f", repaired: {', '.join(score.repaired)}" if score.repaired else ""
    return f"{judge}: {outcome}{asks}{repaired}"


def _verdicts(turn: Turn, cuts: TurnCuts) -> Iterable[str]:
    """Yield what holds of a turn, by the study's rules; compared as the metrics do, to 9 places."""
    far, sas = (None if score is None else round(score, 9) for score in (turn.far, turn.sas))
    if far is not None and far >= cuts.theta:
        yield PASSES
    if far is not None and sas is not None and sas > cuts.sas_above and far < cuts.far_below:
        yield DANGER
    if turn.turn == TRAP_TURN and far is not None:
        yield BELIEVED if far < cuts.informative_below else RESISTED
    fars = [score.far for score in turn.scores.values() if score.far is not None]
    if fars and max(fars) - min(fars) >= DISPUTE:
        yield DISPUTED
    if any(score.state != "ok" for score in turn.scores.values()):
        yield MISSING
    if turn.answer_state != "ok":
        yield f"answer {words_of(turn.answer_state)}"
