"""The questions of a drill, for the browser."""

from __future__ import annotations

from harness.report.browser import Block, Browser, Facet, Item, Part, facet
from harness.report.digits import decimal
from harness.report.form import Call, Cassette, Studied
from harness.results import (
    DrillResults,
    DrillTranscript,
    Passage,
    Probe,
    ProbeWords,
    RunResult,
)
from harness.results.answers import words_of
from harness.results.depthcharge import ASKED

RIGHT, WRONG = "right", "wrong"
NONE = "none"


def probes(studied: Studied) -> Browser:
    """Give the browser of a drill's questions, each run's beginning first, as depth 0."""
    found = studied.found
    assert isinstance(found, DrillResults)
    tiers = {(run.cell, depth.depth): depth.tier for run in found.runs for depth in run.depths}
    of_cell = {one.cell: one for one in studied.transcripts if isinstance(one, DrillTranscript)}
    items = []
    for result in found.cells:
        said, cassette = of_cell[result.cell], studied.cassettes[result.cell.name]
        calls, words = _by_question(cassette), _by_place(said)
        items.append(_item(result, cassette, "the run itself", _beginning(result, said, cassette)))
        for probe in result.probes:
            spoken = words.get((probe.depth, probe.question, probe.deal))
            tier, mine = tiers[result.cell, probe.depth], calls.get(_call(probe), [])
            part = _part(result.cell.target, probe, spoken, tier, mine)
            items.append(_item(result, cassette, _place(probe), part))
    return Browser(studied.name, "entries", "entries", _facets(items), ("confidence",), items)


def _facets(items: list[Item]) -> list[Facet]:
    parts = [part for item in items for part in item.parts]
    found = [facet(name, (item.facets[name] for item in items)) for name in ("model", "domain")]
    for name in ("depth", "tier", "verdict", "error", "source"):
        values = dict.fromkeys(value for part in parts for value in part.facets[name])
        found.append(Facet(name, sorted(values, key=lambda value: value == NONE)))
    return found


def _item(result: RunResult, cassette: Cassette, place: str, part: Part) -> Item:
    cell = result.cell
    name = [cell.target, cell.domain, f"repeat {cell.repeat}", place]
    facets = {"model": cell.target, "domain": cell.domain}
    return Item(name, cell.name, cassette.path, facets, [], [part])


def _by_place(said: DrillTranscript) -> dict[tuple[int, int, int], ProbeWords]:
    return {(one.depth, one.question, one.deal): one for one in said.probes}


def _place(probe: Probe) -> str:
    deal = f", deal {probe.deal}" if probe.deal > 1 else ""
    return f"depth {probe.depth}, question {probe.question}{deal}"


def _beginning(result: RunResult, said: DrillTranscript, cassette: Cassette) -> Part:
    """Give what a run began with, and the calls that belong to no question."""
    branches = "\n".join(f"{number}. {name}" for number, name in enumerate(said.branches, 1))
    ended = f"it ended at depth {result.depths}, by {result.stop}"
    return Part(
        name=f"{len(said.branches)} branches; {ended}",
        chip=f"ended by {result.stop}",
        tone="",
        facets={"depth": ["0"]} | {name: [NONE] for name in ("tier", "verdict", "error", "source")},
        scores={"confidence": None},
        blocks=[Block("context", "The aspects of the domain that the paths began as", branches)],
        calls=[call for call in cassette.calls if "/question-" not in call.name],
    )


def _part(
    target: str, probe: Probe, words: ProbeWords | None, tier: str, calls: list[Call]
) -> Part:
    verdict = _verdict(probe)
    chip = f"{verdict}: {probe.error_type}" if probe.error_type else verdict
    nothing = Block("fact", f"No question after {probe.walked} directions: {probe.reason}", "")
    return Part(
        name=f"Path {probe.path}, of branch {probe.branch}",
        chip=chip,
        tone={RIGHT: "good", WRONG: "bad"}.get(verdict, ""),
        facets={
            "depth": [str(probe.depth)],
            "tier": [tier],
            "verdict": [verdict],
            "error": [probe.error_type or NONE],
            "source": [probe.source or NONE],
        },
        scores={"confidence": probe.confidence},
        blocks=_blocks(probe, words, chip, target) if words else [nothing],
        calls=calls,
        marks=[words.quote] if words else [],
    )


def _by_question(cassette: Cassette) -> dict[str, list[Call]]:
    """Give the calls of each question by the beginning of their names, the deal in it."""
    found: dict[str, list[Call]] = {}
    for call in cassette.calls:
        parts = call.name.split("/")
        deal = parts[2:3] if parts[2:] and parts[2].startswith("deal-") else []
        found.setdefault("/".join([*parts[:2], *deal]), []).append(call)
    return found


def _call(probe: Probe) -> str:
    deal = f"/deal-{probe.deal}" if probe.deal > 1 else ""
    return f"depth-{probe.depth:02d}/question-{probe.question:02d}{deal}"


def _verdict(probe: Probe) -> str:
    if probe.state != ASKED:
        return probe.state
    return RIGHT if probe.correct else WRONG


def _blocks(probe: Probe, words: ProbeWords, chip: str, target: str) -> list[Block]:
    hangs = f"It hangs on the answer to {words.parent}. " if words.parent else ""
    state = "" if probe.answer_state == "ok" else f", answer {words_of(probe.answer_state or '')}"
    confidence = f", confidence {decimal(probe.confidence, 2)}" if probe.state == ASKED else ""
    reply = "" if probe.verdict == "ok" else f" ({probe.verdict})"
    return [
        Block("context", f"{hangs}Direction, from: {probe.origin}", words.direction),
        Block("fact", _source(words.passage), words.passage.text),
        Block("question", "Question", words.asked),
        Block("fact", "Expected", words.expected),
        Block("fact", "Claim that the answer must entail", words.claim),
        Block("answer", f"{target}{state}", words.answer),
        Block("judge", f"Evaluator: {chip}{reply}{confidence}", words.verdict),
    ]


def _source(passage: Passage) -> str:
    form = {"snippet": "a search engine's snippet", "page": "from the page itself"}
    known = (passage.url, passage.revision, passage.date, passage.licence)
    about = (*known, form.get(passage.form, ""))
    return f"Passage: {passage.title} ({', '.join(part for part in about if part)})"
