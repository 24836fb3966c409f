"""Concepts and traps that users bring with their study, checked like everything people write."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, RootModel

from harness.errors import UsageError
from harness.forms import Name, Strict, at, parsed
from harness.placeholders import advice, unfilled
from harness.results import Concept, Materials, TrapEntry, TrapPool

Difficulty = Literal["clearly fictional", "counterfactual", "near miss"]
Filled = Mapping[str, Sequence[str]]  # the names that each prompt is filled with
IN_CLAIMS = ("phrase", "concept")
KINDS_OF_TRAPS = ("experts", "claims", "phrases")
TITLE = re.compile(r"(?i)\A(?:(?:professor|prof\.?|dr\.?|dame|sir|mr\.?|mrs\.?|ms\.?)\s+)+")
OFFICE = re.compile(r"(?i)\s+(?:of|at|from)\s|[,(]")


def _plain(text: str) -> str:
    return _checked(text, ())


def _claim(text: str) -> str:
    return _checked(text, IN_CLAIMS)


def _checked(text: str, filled: Sequence[str]) -> str:
    if not text.strip():
        raise ValueError("is empty")
    if fault := _placeholder_fault(text, filled):
        raise ValueError(fault)
    return text


PlainText = Annotated[str, AfterValidator(_plain)]
ClaimWords = Annotated[str, AfterValidator(_claim)]


class ConceptText(Strict):
    """[[concept]]: a slug, a name, a domain, the reference text, and where its facts stand."""

    id: Name
    name: PlainText
    domain: PlainText
    text: PlainText
    source: str = ""


class ConceptFile(Strict):
    """A file of concepts."""

    concept: list[ConceptText] = Field(min_length=1)


class TrapText(Strict):
    """A fictional thing; absence_check says where, when and how it was looked for."""

    text: PlainText
    difficulty: Difficulty
    absence_check: dict[str, str] = Field(min_length=1)


class ClaimText(TrapText):
    """A fictional claim; its text may hold {concept} and {phrase}."""

    text: ClaimWords


class PoolText(Strict):
    """[[pool]]: the traps of one domain."""

    domain: PlainText
    experts: list[TrapText] = Field(min_length=1)
    claims: list[ClaimText] = Field(min_length=1)
    phrases: list[TrapText] = Field(min_length=1)


class TrapFile(Strict):
    """A file of trap pools."""

    pool: list[PoolText] = Field(min_length=1)


class PromptFile(RootModel[dict[str, str]]):
    """A file of prompts: NAME = "text"; an empty text takes an example out."""


EXAMPLE = re.compile(r"(?P<task>\w+)_(?P<number>[1-9][0-9]*)(?P<reply>_reply)?")


def read_prompts(
    paths: Sequence[Path], packaged: Mapping[str, str], filled: Filled
) -> dict[str, str]:
    """Return a protocol's prompts with a user's own in the place of the package's.

    An example may be added behind the package's, or taken out by an empty text, always with its
    reply. Raises UsageError with file and line for a name that the protocol does not have, a
    placeholder that this prompt is not filled with, an empty text, and a prompt that stands in two
    files.
    """
    places: dict[str, str] = {}
    prompts = dict(packaged)
    for path in paths:
        text = path.read_text("utf-8") if path.is_file() else ""
        for name, prompt in parsed(path, PromptFile).root.items():
            place = at(path, text, [name])
            fault = f"stands in {places[name]} too" if name in places else ""
            fault = fault or _prompt_fault(name, prompt, packaged)
            if fault := fault or _placeholder_fault(prompt, filled.get(name, ())):
                raise UsageError(f"{place}: the prompt {name} {fault}")
            places[name], prompts[name] = place, prompt
    _require_whole_examples(prompts, places)
    return {name: prompt for name, prompt in prompts.items() if prompt}


def _prompt_fault(name: str, prompt: str, packaged: Mapping[str, str]) -> str:
    if name not in packaged and not _is_example(name, packaged):
        near = difflib.get_close_matches(name, packaged, 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        return f"is not one of the protocol{meant} There are: {', '.join(sorted(packaged))}"
    if not prompt.strip() and not _is_example(name, packaged):
        return "is empty; leave it out to have the package's"
    if "_schema" in name and not _is_object(prompt):
        return "is no JSON object, which a schema must be"
    return ""


def _placeholder_fault(text: str, filled: Sequence[str]) -> str:
    if placeholder := unfilled(text, filled):
        hint = advice(placeholder, filled)
        return f"has {{{placeholder}}}, which the protocol does not fill; {hint}"
    return ""


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _is_example(name: str, packaged: Mapping[str, str]) -> bool:
    """Tell whether a prompt is one of the numbered examples of a task, or its reply."""
    match = EXAMPLE.fullmatch(name)
    return match is not None and f"{match['task']}_1_reply" in packaged


def _require_whole_examples(prompts: Mapping[str, str], places: Mapping[str, str]) -> None:
    """Raise UsageError for half an example, and for one that has no other before it."""
    for name, place in places.items():
        match = EXAMPLE.fullmatch(name)
        if match is None or f"{match['task']}_1_reply" not in prompts:
            continue
        halves = _halves(match["task"], int(match["number"]))
        if sum(bool(prompts.get(half)) for half in halves) == 1:
            raise UsageError(f"{place}: {halves[0]} and {halves[1]} come and go together")
    for task in {name.removesuffix("_1_reply") for name in prompts if name.endswith("_1_reply")}:
        are_present = [bool(prompts.get(half)) for half in _examples_of(task, prompts)]
        if are_present != sorted(are_present, reverse=True):
            raise UsageError(
                f"{next(iter(places.values()))}: the examples {task}_1, {task}_2, ... are numbered "
                "without a gap; take out the last one first"
            )


def _halves(task: str, number: int) -> tuple[str, str]:
    return f"{task}_{number}", f"{task}_{number}_reply"


def _examples_of(task: str, prompts: Mapping[str, str]) -> list[str]:
    """Return the examples of a task, each without its reply, in the order of their numbers."""
    numbers = [
        int(match["number"])
        for match in map(EXAMPLE.fullmatch, prompts)
        if match is not None and match["task"] == task
    ]
    return [f"{task}_{number}" for number in range(1, max(numbers) + 1)]


def changed_prompt(paths: Sequence[Path], frozen: Mapping[str, str]) -> str:
    """Return the place of the first prompt of files that is not the frozen one; "" for none.

    A file that is not there any more is left out.
    """
    for path in filter(Path.is_file, paths):
        for name, prompt in parsed(path, PromptFile).root.items():
            if frozen.get(name, "") != prompt:
                return f"{at(path, path.read_text('utf-8'), [name])}: {name}"
    return ""


class _Placed(NamedTuple):
    """A text of materials.json, the keys that lead to it, and what it is filled with."""

    keys: tuple[str, ...]
    text: str
    filled: Sequence[str]


def require_filled(path: Path, materials: Materials, filled: Filled) -> None:
    """Raise UsageError, with file and line, for a placeholder in materials that nothing fills.

    path: the materials.json that they were read from.
    """
    for placed in (*_prompts_of(materials, filled), *_concepts_of(materials), *_traps(materials)):
        if fault := _placeholder_fault(placed.text, placed.filled):
            line = _json_line(path.read_text("utf-8"), placed)
            raise UsageError(f"{path}{line}: {'.'.join(placed.keys)} {fault}")


def _prompts_of(materials: Materials, filled: Filled) -> Iterator[_Placed]:
    for name, text in materials.prompts.items():
        yield _Placed(("prompts", name), text, filled.get(name, ()))


def _concepts_of(materials: Materials) -> Iterator[_Placed]:
    for number, concept in enumerate(materials.concepts):
        for key in ("name", "domain", "text"):
            yield _Placed(("concepts", str(number), key), getattr(concept, key), ())


def _traps(materials: Materials) -> Iterator[_Placed]:
    for number, pool in enumerate(materials.pools):
        for kind in KINDS_OF_TRAPS:
            for place, trap in enumerate(getattr(pool, kind)):
                keys = ("pools", str(number), kind, str(place), "text")
                yield _Placed(keys, trap.text, IN_CLAIMS if kind == "claims" else ())


def _json_line(text: str, placed: _Placed) -> str:
    """Return the line of a JSON file in which a text stands behind its key; "" for none."""
    forms = [json.dumps(placed.text, ensure_ascii=ascii_only) for ascii_only in (False, True)]
    for number, line in enumerate(text.split("\n"), 1):
        if json.dumps(placed.keys[-1]) in line and any(form in line for form in forms):
            return f", line {number}"
    return ""


def read_concepts(path: Path) -> list[Concept]:
    """Read a user's concepts; raises UsageError with file, line and what is wrong."""
    concepts = parsed(path, ConceptFile).concept
    _require_once(path, [(("concept", n, "id"), concept.id) for n, concept in enumerate(concepts)])
    return [Concept(**entry.model_dump()) for entry in concepts]


def read_pools(path: Path) -> list[TrapPool]:
    """Read a user's trap pools; raises UsageError with file, line and what is wrong."""
    pools = parsed(path, TrapFile).pool
    _require_once(path, [(("pool", n, "domain"), pool.domain) for n, pool in enumerate(pools)])
    for n, pool in enumerate(pools):
        for kind in KINDS_OF_TRAPS:
            traps = enumerate(getattr(pool, kind))
            named = _person if kind == "experts" else str
            places = [(("pool", n, kind, m, "text"), named(trap.text)) for m, trap in traps]
            _require_once(path, places)
    return [_pool(entry) for entry in pools]


def _person(expert: str) -> str:
    """Return the name of an expert, without title and office: by it a dialogue knows them."""
    return OFFICE.split(TITLE.sub("", expert.strip(), count=1), maxsplit=1)[0]


def _require_once(path: Path, named: Iterable[tuple[tuple[str | int, ...], str]]) -> None:
    """Raise UsageError, with the line, for the second of two that have one name."""
    names = set[str]()
    for place, name in named:
        folded = " ".join(name.casefold().split())
        if folded in names:
            keys = [str(key) for key in place]
            where = at(path, path.read_text("utf-8"), keys)
            raise UsageError(f"{where}: {'.'.join(keys)}: {name!r} stands twice in this file")
        names.add(folded)


def _pool(entry: PoolText) -> TrapPool:
    experts, claims, phrases = (
        [TrapEntry(**trap.model_dump()) for trap in traps]
        for traps in (entry.experts, entry.claims, entry.phrases)
    )
    return TrapPool(entry.domain, experts, claims, phrases)
