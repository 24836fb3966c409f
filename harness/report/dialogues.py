"""The dialogues of a DDFT study, for the browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from harness.report.browser import Block, Browser, Facet, Item, Part, facet
from harness.report.digits import decimal, plural
from harness.report.form import Call, Cassette, Studied
from harness.results import CellResult, Exchange, Results, Score, Transcript, Turn
from harness.results.answers import words_of
from harness.results.ddft import NO_ANSWER

TRAP_TURN = 4
DISPUTE = 0.5  # a distance between two judges' FAR that is worth a look
BELIEVED, RESISTED = "trap believed", "trap resisted"
DANGER, PASSES = "danger zone", "FAR passes"
DISPUTED, MISSING = "judges differ", "judgement missing"
VERDICTS = (PASSES, DANGER, BELIEVED, RESISTED, DISPUTED, MISSING)


class Rules(NamedTuple):
    """The study's own thresholds, by which a turn gets its verdicts."""

    theta: float
    sas_above: float
    far_below: float
    informative_below: float


def dialogues(studied: Studied) -> Browser:
    """Give the browser of a DDFT study's dialogues, in the order of their cells."""
    found = studied.found
    assert isinstance(found, Results)
    rules = _rules(found)
    of_cell = {result.cell: result for result in found.cells}
    transcripts = [one for one in studied.transcripts if isinstance(one, Transcript)]
    items = [
        _item(one, of_cell[one.cell], studied.cassettes[one.cell.name], rules)
        for one in sorted(transcripts, key=lambda one: one.cell)
    ]
    return Browser(studied.name, "dialogues", "turns", _facets(items), ("FAR", "SAS"), items)


def _rules(found: Results) -> Rules:
    given = found.rules
    below = found.analysis.thresholds.informative_below
    return Rules(given["theta"], given["sas_above"], given["far_below"], below)


def _facets(items: list[Item]) -> list[Facet]:
    parts = [part for item in items for part in item.parts]
    occurring = {verdict for part in parts for verdict in part.facets["verdict"]}
    others = sorted(occurring - set(VERDICTS))
    found = [facet(name, (item.facets[name] for item in items)) for name in ("model", "concept")]
    levels = sorted({item.facets["level c"] for item in items}, key=float)
    found.append(Facet("level c", levels))
    found.append(facet("turn", (turn for part in parts for turn in part.facets["turn"])))
    found.append(Facet("verdict", [one for one in VERDICTS if one in occurring] + others))
    more = [facet(name, (item.facets[name] for item in items)) for name in ("arm", "repeat")]
    return [*found, *(one for one in more if len(one.values) > 1)]


def _item(said: Transcript, result: CellResult, cassette: Cassette, rules: Rules) -> Item:
    cell, words = said.cell, {exchange.turn: exchange for exchange in said.exchanges}
    parts = [
        _part(turn, words[turn.turn], said.trap, _calls(cassette, turn.turn), rules, cell.subject)
        for turn in result.turns
    ]
    facets = {
        "model": cell.subject,
        "concept": cell.concept,
        "level c": f"{cell.level:g}",
        "arm": cell.arm,
        "repeat": str(cell.repeat),
    }
    name = [cell.subject, cell.concept, f"c = {cell.level:g}", cell.arm, f"repeat {cell.repeat}"]
    return Item(name, cell.name, cassette.path, facets, _opening(said, result), parts)


def _opening(said: Transcript, result: CellResult) -> list[Block]:
    size = f"the first {plural(result.context_chars, 'character')} of its text"
    label = f"Context that the model saw with turn 1: {size}, cut there"
    if said.cell.level == 0:
        label = f"Context that the model saw with turn 1: all {result.context_chars:,} characters"
    if not said.context:
        label = f"No context was given (c = {said.cell.level:g})"
    trap = "\n".join(f"{name}: {text}" for name, text in said.trap.items())
    return [Block("context", label, said.context), Block("trap", "Invented for turn 4", trap)]


def _calls(cassette: Cassette, turn: int) -> list[Call]:
    return [call for call in cassette.calls if call.name.startswith(f"turn-{turn}/")]


def _part(
    turn: Turn,
    words: Exchange,
    trap: Mapping[str, str],
    calls: list[Call],
    rules: Rules,
    subject: str,
) -> Part:
    verdicts = list(_verdicts(turn, rules))
    is_trap = turn.turn == TRAP_TURN
    state = "" if turn.answer_state == "ok" else f", answer {words_of(turn.answer_state)}"
    blocks = [
        Block("question", f"Question ({turn.question_source})", words.question),
        Block("answer", f"{subject}{state}", words.answer),
        *_judges(turn, words),
    ]
    return Part(
        name=f"Turn {turn.turn}{': the trap' if is_trap else ''}",
        chip=f"{turn.turn}: {decimal(turn.far, 2)}",
        tone="bad" if DANGER in verdicts else "good" if PASSES in verdicts else "",
        facets={"turn": [str(turn.turn)], "verdict": verdicts},
        scores={"FAR": turn.far, "SAS": turn.sas},
        blocks=blocks,
        calls=calls,
        marks=list(trap.values()) if turn.turn >= TRAP_TURN else [],
    )


def _judges(turn: Turn, words: Exchange) -> list[Block]:
    means = f"mean of {turn.n_judges}: FAR {decimal(turn.far, 3)}, SAS {decimal(turn.sas, 3)}"
    return [
        Block("score", f"Jury, {means}", ""),
        *(
            Block("judge", _says(name, score), words.replies.get(name, ""))
            for name, score in sorted(turn.scores.items())
        ),
    ]


def _says(judge: str, score: Score) -> str:
    if score.state == NO_ANSWER:
        return f"{judge}: not asked, since there was no answer"
    scores = f"FAR {decimal(score.far, 2)}, SAS {decimal(score.sas, 2)}"
    said = scores if score.state == "ok" else f"missing ({score.state}): {scores}"
    asked = "" if score.asks == 1 else f", asked {score.asks} times"
    mended = f", mended: {', '.join(score.repaired)}" if score.repaired else ""
    return f"{judge}: {said}{asked}{mended}"


def _verdicts(turn: Turn, rules: Rules) -> Iterable[str]:
    """Give what holds of a turn, by the study's rules; compared as the metrics do, to 9 places."""
    far, sas = (None if score is None else round(score, 9) for score in (turn.far, turn.sas))
    if far is not None and far >= rules.theta:
        yield PASSES
    if far is not None and sas is not None and sas > rules.sas_above and far < rules.far_below:
        yield DANGER
    if turn.turn == TRAP_TURN and far is not None:
        yield BELIEVED if far < rules.informative_below else RESISTED
    fars = [score.far for score in turn.scores.values() if score.far is not None]
    if fars and max(fars) - min(fars) >= DISPUTE:
        yield DISPUTED
    if any(score.state != "ok" for score in turn.scores.values()):
        yield MISSING
    if turn.answer_state != "ok":
        yield f"answer {words_of(turn.answer_state)}"
