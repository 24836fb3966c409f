"""The questions of a drill, for the browser."""

from __future__ import annotations

from collections.abc import Sequence

from harness.page.browser import Block, Browser, BrowserEntry, EntryStep, Facet, facet
from harness.page.replayed_study import RecordedCall, RecordedCell, ReplayedStudy
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
from harness.results.digits import decimal

RIGHT, WRONG = "right", "wrong"
NONE = "none"
LEGEND = (
    "A chip is the evaluator's verdict on an answer, with the type of error, or what became of the "
    "question. Green: right. Red, underlined: wrong."
)


def questions(study: ReplayedStudy[DrillResults, DrillTranscript]) -> Browser:
    """Return the browser of a drill's questions, each run's beginning first, as depth 0."""
    results = study.results
    tiers = {(run.cell, depth.depth): depth.tier for run in results.runs for depth in run.depths}
    transcripts = {transcript.cell: transcript for transcript in study.transcripts}
    is_repeated = len({result.cell.repeat for result in results.cells}) > 1
    entries = []
    for result in results.cells:
        transcript, recorded = transcripts[result.cell], study.recorded[result.cell.name]
        beginning = _beginning(result, transcript, recorded)
        run = [f"repeat {result.cell.repeat}"] if is_repeated else []
        entries.append(_entry(result, recorded, [*run, "the run itself"], "", beginning))
        calls, words = _by_question(recorded), _by_place(transcript)
        for probe in result.probes:
            texts = words.get((probe.depth, probe.question, probe.deal))
            tier, of_probe = tiers[result.cell, probe.depth], calls.get(_call(probe), [])
            question = _question(result.cell.target, probe, texts, tier, of_probe)
            place = [*run, f"depth {probe.depth}", _place(probe)]
            entries.append(_entry(result, recorded, place, _call(probe), question))
    facets = _facets(entries)
    return Browser(study.name, "entries", "entries", facets, ("confidence",), entries, LEGEND)


def _facets(entries: list[BrowserEntry]) -> list[Facet]:
    steps = [step for entry in entries for step in entry.steps]
    facets = [
        facet(name, (entry.facets[name] for entry in entries)) for name in ("model", "domain")
    ]
    for name in ("depth", "tier", "verdict", "error", "source"):
        values = dict.fromkeys(value for step in steps for value in step.facets[name])
        facets.append(Facet(name, sorted(values, key=lambda value: value == NONE)))
    return facets


def _entry(
    result: RunResult, recorded: RecordedCell, place: Sequence[str], call: str, step: EntryStep
) -> BrowserEntry:
    """Return a question, or a run's beginning; call: the beginning of its calls' names."""
    cell = result.cell
    name = [cell.target, cell.domain, *place]
    facets = {"model": cell.target, "domain": cell.domain}
    anchor = f"{cell.name}/{call}" if call else cell.name
    return BrowserEntry(name, cell.name, recorded.path, facets, [], [step], anchor)


def _by_place(transcript: DrillTranscript) -> dict[tuple[int, int, int], ProbeWords]:
    return {(words.depth, words.question, words.deal): words for words in transcript.probes}


def _place(probe: Probe) -> str:
    deal = f", deal {probe.deal}" if probe.deal > 1 else ""
    return f"question {probe.question}{deal}"


def _beginning(result: RunResult, transcript: DrillTranscript, recorded: RecordedCell) -> EntryStep:
    """Return what a run began with, and the calls that belong to no question."""
    branches = "\n".join(f"{number}. {name}" for number, name in enumerate(transcript.branches, 1))
    ended = f"it ended at depth {result.depths}, by {result.stop}"
    return EntryStep(
        name=f"{len(transcript.branches)} branches; {ended}",
        chip=f"ended by {result.stop}",
        tone="",
        facets={"depth": ["0"]} | {name: [NONE] for name in ("tier", "verdict", "error", "source")},
        scores={"confidence": None},
        blocks=[Block("context", "The aspects of the domain that the paths began as", branches)],
        calls=[call for call in recorded.calls if "/question-" not in call.name],
    )


def _question(
    target: str, probe: Probe, words: ProbeWords | None, tier: str, calls: list[RecordedCall]
) -> EntryStep:
    verdict = _verdict(probe)
    chip = f"{verdict}: {probe.error_type}" if probe.error_type else verdict
    nothing = Block("fact", f"No question after {probe.walked} directions: {probe.reason}", "")
    return EntryStep(
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


def _by_question(recorded: RecordedCell) -> dict[str, list[RecordedCall]]:
    """Return the calls of each question by the beginning of their names, the deal in it."""
    calls: dict[str, list[RecordedCall]] = {}
    for call in recorded.calls:
        path = call.name.split("/")
        deal = path[2:3] if path[2:] and path[2].startswith("deal-") else []
        calls.setdefault("/".join([*path[:2], *deal]), []).append(call)
    return calls


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
    named = (passage.url, passage.revision, passage.date, passage.licence)
    about = (*named, form.get(passage.form, ""))
    return f"Passage: {passage.title} ({', '.join(filter(None, about))})"
