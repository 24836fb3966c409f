"""Check the jury against people: a blind sheet of responses out, human scores in, agreement.

A response's id is "r" and the first 12 hexadecimal digits of the SHA-256 of the JSON list [study
seed, cell name, turn, every question and answer of its dialogue]. So no key is kept: an import
makes the ids anew from the cassettes. It fits the same dialogues judged by another jury
(`harness rejudge`) and not a cell that was recorded anew. The rest of the dialogue is the salt: an
id cannot be traced to subject and level from its row alone, but whoever has the study can do so.
What blinds nobody is in the row itself: a model that names itself, or a trap, which all dialogues
of one concept at one level share.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.asking.models.prompts import fill
from harness.errors import UsageError
from harness.files import write_atomic
from harness.protocols.ddft.analysis.evaluations import SCALES
from harness.protocols.ddft.analysis.reliability import scale_agreement
from harness.protocols.ddft.analysis.schema_jury import ScaleAgreement
from harness.protocols.ddft.dialogue.examined import TRAP_TURN
from harness.protocols.ddft.metrics.formulas import mean_value
from harness.protocols.ddft.study_table import ddft_plan
from harness.results import CellResult, Exchange, Materials, Score, Transcript, Turn, Value
from harness.run.checked import checked_cells
from harness.run.replay import CellReplay
from harness.run.wiring import frozen
from harness.stats.seeds import seeded
from harness.study.folder import Study

COLUMNS = ("id", "concept", "turn", "question", "answer", "note", *SCALES)
NEEDED = ("id", *SCALES)
FORMULA = ("=", "+", "-", "@", "\t", "\r")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
HUMAN, CONSENSUS = "the human", "the jury's consensus"  # no judge's name has a space
BINS, WEIGHTS = "rubric", "linear"


class RatedResponse(NamedTuple):
    """One answer with its place: what a rater sees of it, and what the jury made of it."""

    id: str
    shown: tuple[str, ...]
    cell: CellResult
    turn: Turn


class Exported(NamedTuple):
    """How many responses a sheet holds, of how many that are recorded."""

    rows: int
    recorded: int


class Sheet(NamedTuple):
    """A filled sheet: far and sas by id, None where one was left out; rows without either."""

    scores: dict[str, tuple[float | None, float | None]]
    empty: int


class RaterComparison(NamedTuple):
    """The human scores on one scale against those of one rater; each n counts what both scored.

    kappa: Cohen's, over the bins of Calibration. weighted: the same, weights |i - j|. icc:
    ICC(A,1), absolute agreement of single raters. difference: the mean |human - rater|.
    """

    scale: str
    rater: str
    kappa: Value
    weighted: Value
    icc: Value
    difference: Value


class Calibration(NamedTuple):
    """What an import found: rows rated and left empty, the bins, every comparison."""

    rated: int
    empty: int
    bins: str
    edges: list[float]
    comparisons: list[RaterComparison]


def export_sheet(
    study: Study, path: Path, sample: int | None = None, seed: int | None = None
) -> Exported:
    """Write a blind sheet: CSV, a row a response of the finished cells, in shuffled order.

    UTF-8, lines end as in RFC 4180. Columns: COLUMNS; far and sas are empty, note says for turns 4
    and 5 what the judges were told is invented. No subject, level, arm or score. sample: how many,
    drawn at random; a larger sample of the same seed holds the smaller one. seed: of order and
    draw (default: the study's).
    A cell that a spreadsheet could take for a formula begins with an apostrophe.

    Raises UsageError where the file is there already, and where there are too few responses.
    """
    if path.exists():
        raise UsageError(f"{path}: exists already, perhaps with somebody's scores. Name another.")
    recorded = responses(study)
    if sample is not None and sample > len(recorded):
        raise UsageError(f"--sample {sample}: {study.name} has {len(recorded)} recorded responses.")
    order = seeded(study.file.seed if seed is None else seed, "calibrate").permutation(
        len(recorded)
    )
    rows = [_row(recorded[place]) for place in order[:sample]]
    write_atomic(path, _csv([COLUMNS, *rows]))
    return Exported(len(rows), len(recorded))


def responses(study: Study) -> list[RatedResponse]:
    """Return every response of the finished cells, sorted by id.

    Raises CheckFailed for a cell that does not replay, UsageError where none is finished.
    """
    materials = frozen(study).materials
    finished = [cell for cell in ddft_plan(study).cells() if study.cassette(cell).exists()]
    replays = checked_cells(study, finished).replays
    listed = [response for replay in replays for response in _of_cell(study, materials, replay)]
    if not listed:
        raise UsageError(f"{study.folder}: no cell is finished; `harness record {study.name}`.")
    return sorted(listed, key=lambda response: response.id)


def response_id(seed: int, transcript: Transcript, turn: int) -> str:
    """Return the opaque id of one response (see the head of this file).

    It begins with a letter, so that no spreadsheet reads one as a number such as 12e45.
    """
    words = [[exchange.question, exchange.answer] for exchange in transcript.exchanges]
    salted = json.dumps([seed, transcript.cell.name, turn, words])
    return "r" + hashlib.sha256(salted.encode()).hexdigest()[:12]


def _of_cell(study: Study, materials: Materials, replay: CellReplay) -> Iterator[RatedResponse]:
    assert replay.result is not None
    assert replay.transcript is not None
    pairs = zip(replay.transcript.exchanges, replay.result.turns, strict=True)
    for exchange, turn in pairs:
        if turn.missing:  # nobody can rate an answer that did not come
            continue
        mark = response_id(study.file.seed, replay.transcript, turn.turn)
        columns = _shown(materials, replay.transcript, exchange)
        yield RatedResponse(mark, columns, replay.result, turn)


def _shown(materials: Materials, transcript: Transcript, exchange: Exchange) -> tuple[str, ...]:
    names = {concept.id: concept.name for concept in materials.concepts}
    concept = names[transcript.cell.concept]
    note = ""
    if exchange.turn >= TRAP_TURN:
        placeholders = {"concept": concept, **transcript.trap}
        note = fill(materials.prompts["judge_fabrication"], placeholders).strip()
    answer = exchange.answer or "(no answer)"
    return (concept, str(exchange.turn), exchange.question, answer, note)


def _row(response: RatedResponse) -> tuple[str, ...]:
    return (response.id, *map(_safe, response.shown), *("" for _ in SCALES))


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def import_sheet(study: Study, path: Path) -> Calibration:
    """Compare a filled sheet's scores with the jury's consensus and with every judge.

    Raises UsageError, with the row, for whatever is not as export_sheet wrote it.
    """
    by_id = {response.id: response for response in responses(study)}
    sheet = read_sheet(path, by_id)
    rated = [_rated(by_id[mark], scores) for mark, scores in sheet.scores.items()]
    raters = (CONSENSUS, *ddft_plan(study).jury)
    comparisons = [_comparison(rated, scale, rater) for scale in SCALES for rater in raters]
    edges = next(kappa.edges for kappa in scale_agreement(rated, [HUMAN], "far").kappas)
    return Calibration(len(rated), sheet.empty, BINS, edges, comparisons)


def read_sheet(path: Path, ids: Mapping[str, object]) -> Sheet:
    """Read a filled sheet; columns of the rater's own are left alone.

    ids: those that there are. Rows are counted as a spreadsheet does, the header being row 1.
    Raises UsageError for an unknown id or one that stands twice, a score that is no number from 0
    to 1, a row with too many cells or too few, and a sheet without any score.
    """
    header, rows = _table(path)
    scores: dict[str, tuple[float | None, float | None]] = {}
    seen: dict[str, int] = {}
    for number, row in rows:
        where = f"{path}, row {number}"
        cells = _cells(where, header, row)
        mark = _known_id(where, cells["id"].strip(), ids, seen)
        seen[mark] = number
        far, sas = (_score(where, scale, cells[scale]) for scale in SCALES)
        if (far, sas) != (None, None):
            scores[mark] = far, sas
    if not scores:
        raise UsageError(f"{path}: no row has a score in far or sas; there is nothing to compare.")
    return Sheet(scores, len(seen) - len(scores))


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header, and the other rows that have anything in them, with their numbers."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read as UTF-8 CSV ({error})") from error
    header = [name.strip() for name in rows[0]] if rows else []
    for name in NEEDED:
        if header.count(name) != 1:
            raise UsageError(
                f"{path}, row 1: expected one column {name!r}, got {header.count(name)}. Save the "
                f"sheet as CSV with commas, and leave its header as it is: {','.join(COLUMNS)}"
            )
    filled = [(number, row) for number, row in enumerate(rows, 1) if any(map(str.strip, row))]
    return header, filled[1:]


def _cells(where: str, header: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    if len(row) != len(header):
        raise UsageError(
            f"{where}: has {len(row)} cells, the header has {len(header)}. A comma within a number "
            "or a text needs quotes round the cell."
        )
    return dict(zip(header, row, strict=True))


def _known_id(where: str, mark: str, ids: Mapping[str, object], seen: Mapping[str, int]) -> str:
    if mark not in ids:
        raise UsageError(
            f"{where}: the id {mark!r} is none of this study's responses. Is the sheet of another "
            "study, or was the cell recorded anew since?"
        )
    if mark in seen:
        raise UsageError(f"{where}: the id {mark!r} stands in row {seen[mark]} already.")
    return mark


def _score(where: str, scale: str, cell: str) -> float | None:
    """Read a score; an apostrophe before it is a spreadsheet's mark for text."""
    text = cell.strip().removeprefix("'").strip()
    if not text:
        return None
    if not NUMBER.fullmatch(text) or not 0 <= float(text) <= 1:
        raise UsageError(
            f"{where}: {scale} is {cell!r}; expected a number from 0 to 1 such as 0.7, or nothing."
        )
    return float(text)


def _rated(response: RatedResponse, scores: tuple[float | None, float | None]) -> CellResult:
    """Return the response as a cell of one turn, with the human and the consensus as judges."""
    turn = response.turn
    raters = {
        **turn.scores,
        HUMAN: Score(*scores, "ok", 1),
        CONSENSUS: Score(turn.far, turn.sas, "ok", 1),
    }
    alone = msgspec.structs.replace(turn, scores=raters)
    return msgspec.structs.replace(response.cell, turns=[alone])


def _comparison(rated: Sequence[CellResult], scale: str, rater: str) -> RaterComparison:
    agreement = scale_agreement(rated, [HUMAN, rater], scale)
    return RaterComparison(
        scale,
        rater,
        _kappa(agreement, "unweighted"),
        _kappa(agreement, WEIGHTS),
        agreement.agreement.icc["ICC(A,1)"],
        mean_value(_distances(rated, scale, rater), "no item scored by both"),
    )


def _kappa(agreement: ScaleAgreement, weights: str) -> Value:
    pairs = next(
        kappa.pairs for kappa in agreement.kappas if (kappa.bins, kappa.weights) == (BINS, weights)
    )
    return pairs[0].kappa


def _distances(rated: Sequence[CellResult], scale: str, rater: str) -> list[float]:
    scores = [cell.turns[0].scores for cell in rated]
    pairs = [
        (getattr(by_rater[HUMAN], scale), getattr(by_rater[rater], scale))
        for by_rater in scores
        if rater in by_rater
    ]
    return [abs(a - b) for a, b in pairs if a is not None and b is not None]
