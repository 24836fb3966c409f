"""What machines write: materials, transcripts, results; canonical JSON out, typed in.

Protocols are handed the materials and give transcripts and numbers; reports read them. Every value
that can be undefined is null with its reason, every mean names its n.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import DamagedFile

REL_TOL, ABS_TOL = 1e-9, 1e-12


class Concept(msgspec.Struct):
    """A concept: slug, name, domain, reference text, and where its facts can be looked up."""

    id: str
    name: str
    domain: str
    text: str
    source: str = ""


class TrapEntry(msgspec.Struct):
    """A fictional thing, its difficulty class, and where its absence was checked."""

    text: str
    difficulty: str
    absence_check: dict[str, str]


class TrapPool(msgspec.Struct):
    """The fictional experts, claims and phrases of one domain."""

    domain: str
    experts: list[TrapEntry]
    claims: list[TrapEntry]
    phrases: list[TrapEntry]


class Price(msgspec.Struct):
    """What a model costs: currency units for a million tokens, in and out."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Give the cost of so many tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


class Prices(msgspec.Struct):
    """A price list as the user supplied it, with its date; by the study's names of models."""

    as_of: str
    currency: str
    models: dict[str, Price]


class Materials(msgspec.Struct, omit_defaults=True):
    """Everything besides the study file that shapes a request, frozen at the first record.

    prices decide no request; they stand here so that a replay gives the recorded cost.
    """

    harness_version: str
    protocol: str
    protocol_version: int
    prompts: dict[str, str]
    concepts: list[Concept]
    pools: list[TrapPool]
    prices: Prices | None = None


class Score(msgspec.Struct):
    """One judge's scores of one answer; far and sas are null unless state is "ok"."""

    far: float | None
    sas: float | None
    state: str
    asks: int
    repaired: list[str] = []


class Turn(msgspec.Struct):
    """One turn: where its question came from, what became of the answer, the jury's scores.

    far, sas: means over the n_judges that gave a score, null where none did.
    """

    turn: int
    question_source: str
    answer_state: str
    scores: dict[str, Score]
    n_judges: int
    far: float | None
    sas: float | None


class CellKey(msgspec.Struct, frozen=True, order=True):
    """The place of one dialogue in the study's grid."""

    subject: str
    concept: str
    level: float
    arm: str = "paper"
    repeat: int = 1

    @property
    def name(self) -> str:
        """Give the cell's name, from which its file name is made."""
        return f"{self.subject}--{self.concept}--c{self.level:g}--{self.arm}--r{self.repeat}"


class Usage(msgspec.Struct):
    """What a model was asked: calls, tokens in and out, and the calls that named no tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls_without_tokens: int = 0


class CellResult(msgspec.Struct):
    """What a finished cell gives: numbers and states, no model's words.

    served: the names each endpoint gave for its model. usage: by model.
    same_family: the judges of the subject's own family.
    """

    cell: CellKey
    context_chars: int
    trap_source: str
    turns: list[Turn]
    served: dict[str, list[str]]
    usage: dict[str, Usage]
    same_family: list[str]


class Exchange(msgspec.Struct):
    """One turn's words: the question, the answer, every judge's reply."""

    turn: int
    question: str
    answer: str
    replies: dict[str, str]


class Transcript(msgspec.Struct):
    """A dialogue as it was held, handed over by a replay to those who show it."""

    cell: CellKey
    context: str
    trap: dict[str, str]
    exchanges: list[Exchange]


class Value(msgspec.Struct):
    """A number with how many observations it rests on; null has a reason."""

    value: float | None
    n: int
    reason: str | None = None


class Level(msgspec.Struct):
    """Mean FAR and SAS of a subject at one compression level, over n turn evaluations."""

    level: float
    far: Value
    sas: Value


class SubjectMetrics(msgspec.Struct):
    """A subject's metrics in one arm; how each is defined stands in ddft/metrics.py.

    complete: whether all its planned cells are there; else every metric is null, with that reason.
    """

    subject: str
    arm: str
    complete: bool
    levels: list[Level]
    hoc: Value
    hoc_onset: Value
    cri: Value
    far_prime: Value
    sas_prime: Value
    ci_raw: Value
    ci: Value
    phenotype: str | None
    danger_zone: Value


class Missing(msgspec.Struct):
    """How many judgements are missing, by state, against the study's limit."""

    judgements: int
    missing: int
    share: float
    limit: float
    states: dict[str, int]


class ModelCost(msgspec.Struct):
    """What a model was asked in all of a study, and what that cost by the price list."""

    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: Value


class Spending(msgspec.Struct):
    """The cost of a recording; null where a price or a count of tokens is unknown."""

    currency: str | None
    as_of: str | None
    models: list[ModelCost]
    total: Value


class Results(msgspec.Struct):
    """results.json: what a study found, and by which rules.

    analysis: the protocol's study-level analysis, in its own form.
    """

    study: str
    protocol: str
    protocol_version: int
    valid: bool
    invalid_reason: str | None
    rules: dict[str, Any]
    missing: Missing
    spending: Spending
    subjects: list[SubjectMetrics]
    analysis: Any
    cells: list[CellResult]


class Difference(msgspec.Struct):
    """The first place where two results differ, and whether by rounding only."""

    where: str
    recorded: Any
    now: Any
    close: bool


def canonical(value: Any) -> bytes:
    """Give the bytes of a results file: floats with 12 significant digits, LF, final newline."""
    plain = _rounded(msgspec.to_builtins(value))
    return msgspec.json.format(msgspec.json.encode(plain), indent=1) + b"\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(inner) for inner in value]
    return value


def read_results(path: Path) -> Any:
    """Read a results file as plain data; raises DamagedFile where it is no JSON."""
    try:
        return msgspec.json.decode(path.read_bytes())
    except msgspec.DecodeError as error:
        raise DamagedFile(
            f"{path}: is damaged ({error}). Restore it, or delete it and let "
            "`harness record` write it anew from the cassettes."
        ) from error


def read_materials(path: Path) -> Materials:
    """Read a study's frozen materials; raises DamagedFile where they do not fit the form."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Materials)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamagedFile(
            f"{path}: is damaged ({error}). Restore it from where you got the "
            "study; the recording does not replay without it."
        ) from error


def first_difference(recorded: Any, now: Any, where: str = "") -> Difference | None:
    """Name the first place where two results differ; a real difference before one of rounding."""
    rounding = None
    for difference in _differences(recorded, now, where):
        if not difference.close:
            return difference
        rounding = rounding or difference
    return rounding


def _differences(recorded: Any, now: Any, where: str) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            place = f"{where}.{key}" if where else str(key)
            yield from _differences(recorded.get(key, "(absent)"), now.get(key, "(absent)"), place)
    elif isinstance(recorded, list) and isinstance(now, list):
        for number, (old, new) in enumerate(zip(recorded, now, strict=False)):
            yield from _differences(old, new, f"{where}[{_label(old, number)}]")
        if len(recorded) != len(now):
            yield Difference(f"{where} (length)", len(recorded), len(now), False)
    elif recorded != now or type(recorded) is not type(now):
        yield Difference(where, recorded, now, _close(recorded, now))


def _label(entry: Any, number: int) -> str:
    if isinstance(entry, dict):
        for name in ("cell", "subject", "turn", "level"):
            if isinstance(entry.get(name), dict):
                return msgspec.convert(entry[name], CellKey).name
            if name in entry:
                return str(entry[name])
    return str(number)


def _close(old: Any, new: Any) -> bool:
    numbers = (int, float)
    if isinstance(old, bool) or not (isinstance(old, numbers) and isinstance(new, numbers)):
        return False
    return abs(old - new) <= max(ABS_TOL, REL_TOL * max(abs(old), abs(new)))
