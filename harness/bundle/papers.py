"""The papers that go with a bundle: for its reviewer, for who runs it again, for who cites it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

PLACEHOLDER = "10.5281/zenodo.0000000"
CALLS_A_SECOND = 500  # a slow machine; what is measured is several thousand
FEWEST_SECONDS = 30
STAYS = (  # what leaving out a model's answers does not reach
    "The answers of the other models stay, wherever they speak, and so do the study's own files.",
    "They may quote or retell what was said by a model that is left out, and no program finds",
    "that: whoever may not hand on its words reads them first.",
)


class BundleFacts(NamedTuple):
    """What the papers say of a bundle.

    verdict: the line that `harness replay` prints, its seconds left open. lock: the file that pins
    the versions. cost: in words. first, last: when the first and the last call were answered, UTC.
    waited: seconds, summed over the calls. sample_of: the study's own name where the bundle holds
    a part of it, and its share of the cells. calls: all that are recorded; replayed_cells,
    replayed_calls: what a replay of this bundle answers. numbers_compared: whether it compares any
    number. left_out: the cells that no longer replay, with how many bodies each lacks. dropped: the
    models whose answers are left out; same_models: for each other name of such a model, that its
    answers stay. report: whether there is a report.html.
    """

    study: str
    title: str
    protocol: str
    as_of: str
    version: str
    fingerprint: str
    verdict: str
    lock: str
    cells: int
    calls: int
    replayed_cells: int
    replayed_calls: int
    numbers_compared: bool
    size: int
    cost: str
    first: str
    last: str
    waited: float
    sample_of: tuple[str, float] | None
    left_out: Sequence[tuple[str, int]]
    dropped: Sequence[str]
    same_models: Sequence[str]
    published: str
    report: bool

    @property
    def seconds(self) -> int:
        """Return how long a replay may take on a slow machine, at most."""
        return max(FEWEST_SECONDS, round(self.calls / CALLS_A_SECOND))


def readme(facts: BundleFacts) -> str:
    """Return the reviewer's README."""
    return "\n".join(
        [
            f"# {facts.title}",
            "",
            *_subject(facts),
            "",
            *_program(facts),
            "```",
            "harness replay --verify-checksums  # in this folder; or: harness replay THIS.tar.zst",
            "```",
            "",
            "It ends with this line (its seconds differ):",
            "",
            "```",
            facts.verdict,
            "```",
            "",
            *_sample(facts),
            *_left_out(facts),
            *_contents(facts),
        ]
    )


def _subject(facts: BundleFacts) -> list[str]:
    """Say what is recorded, and how much of it is computed anew."""
    if not facts.left_out:
        return [
            f"A recording of every model call of this study ({facts.protocol}, {facts.as_of}),",
            "from which every number in it is computed anew: no key, no network, no cost.",
        ]
    return [
        f"A recording of this study's model calls ({facts.protocol}, {facts.as_of}) of which some",
        f"bodies are left out. {facts.replayed_cells} of its {facts.cells} cells can be replayed:",
        "no key, no network, no cost. What is computed over all cells cannot be checked here.",
    ]


def _program(facts: BundleFacts) -> list[str]:
    return [
        f"**The program is not in this bundle.** It is harness {facts.version}, which is in no",
        "package index: `pip install harness` does not get it. Whoever published this recording",
        "says where its repository is. In a clone of it, at that version, with Python 3.11 or",
        "later and in an environment of its own, this gives the command:",
        "",
        "```",
        f"pip install -r BUNDLE/{facts.lock}  # BUNDLE: this folder; the versions of the libraries",
        "pip install --no-deps .",
        "```",
        "",
        "(`scripts/install` there does the same with the repository's own versions; the command is",
        "`.venv/bin/harness` then.) Nothing after this needs a network:",
        "",
    ]


def _sample(facts: BundleFacts) -> list[str]:
    if facts.sample_of is None:
        return []
    name, share = facts.sample_of
    return [
        f"**This is a sample, not the study.** It holds {share:.1%} of the cells of `{name}`,",
        "drawn by its seed, as a study of its own that replays alone. Its numbers are computed",
        "from these cells only: they are not the study's numbers, and no finding rests on them.",
        "",
    ]


def _left_out(facts: BundleFacts) -> list[str]:
    if not facts.left_out:
        return []
    return [
        "**Some of what was recorded is left out**, as it may not be handed on. `LEFT-OUT.json`",
        "names every body with its address, size and SHA-256, so that who has it can compare.",
        "`results.json` is the whole study's; these cells no longer replay:",
        "",
        *(f"- `{cell}`: {bodies} bodies left out" for cell, bodies in facts.left_out),
        "",
        f"The whole study's fingerprint is {facts.published}; the manifest here is of what is",
        "here.",
        "",
        *_dropped(facts.dropped, facts.same_models),
    ]


def _dropped(models: Sequence[str], same_models: Sequence[str]) -> list[str]:
    """Say what stays of the models that are left out; nothing where there are none."""
    if not models:
        return []
    named = ", ".join(f"`{name}`" for name in models)
    gone = f"The answers of {named} are left out, and every request of the cells with them."
    return [gone, *(f"{words}." for words in same_models), *STAYS, ""]


def terms_of_dropped(models: Sequence[str], same_models: Sequence[str]) -> str:
    """Return the section of LICENCES.md on models whose answers are left out; "" for none."""
    if not models:
        return ""
    return "\n".join(
        ["", "## Models whose answers are left out", "", *_dropped(models, same_models)]
    )


def _contents(facts: BundleFacts) -> list[str]:
    report = ["| `report.html` | tables and plots |"] if facts.report else []
    return [
        "| file | what it is |",
        "|---|---|",
        f"| `cassettes/{facts.study}/` | study.toml, materials.json, one recording a cell, "
        "results.json |",
        "| `checksums/` | its manifests, for `md5sum -c` and `sha256sum -c` |",
        *report,
        "| `APPENDIX.md` | what a reproduction needs, and what may vary |",
        "| `LICENCES.md` | licences of the passages, and whose terms govern the answers |",
        "| `CITATION.cff` | how to cite this |",
        f"| `{facts.lock}` | the versions of everything that runs |",
        "| `SHA256SUMS` | the checksum of every other file here |",
        "",
    ]


def appendix(facts: BundleFacts) -> str:
    """Return the appendix for artifact evaluation."""
    return "\n".join(
        [
            "# Artifact appendix",
            "",
            f"Artifact: the recording of *{facts.title}* and the results computed from it.",
            f"DOI: {PLACEHOLDER} (a placeholder: put in the one that the archive gives)",
            "",
            "| what | needed or expected |",
            "|---|---|",
            f"| program | harness {facts.version}, Python 3.11 or later, {facts.lock} |",
            "| hardware | any; no GPU, no network, no key |",
            f"| disk | {facts.size / 1e6:.1f} MB unpacked |",
            f"| time | under {facts.seconds} s on a slow machine |",
            f"| calls | {_calls(facts)} |",
            f"| cost | nothing; the recording: {facts.cost} |",
            f"| when it was recorded | from {facts.first} to {facts.last} |",
            f"| time spent waiting for answers | {facts.waited / 3600:.1f} h, over all calls |",
            "",
            "## Expected output",
            "",
            "```",
            facts.verdict,
            "```",
            "",
            "## Allowed variation",
            "",
            *_variation(facts),
            "",
            "## What it does not show",
            "",
            "That the recording is honest, or that the models would still answer so: endpoints are",
            "retired and change. A new recording is a new study; `harness diff` compares two.",
            "",
        ]
    )


def _calls(facts: BundleFacts) -> str:
    """Say how many calls a replay of this bundle answers, and how many it cannot."""
    replayed = f"{facts.replayed_calls} are replayed, in {facts.replayed_cells} cells; none is sent"
    if not facts.left_out:
        return replayed
    cells, calls = facts.cells - facts.replayed_cells, facts.calls - facts.replayed_calls
    return f"{replayed}; {calls} more, in {cells} cells that lack bodies, are not replayed"


def _variation(facts: BundleFacts) -> list[str]:
    """Say what a replay of this bundle compares, and how far that may differ."""
    if not facts.numbers_compared:
        return [
            "No cell is whole here, so no number is computed anew or compared: `numbers not",
            "compared`, and the command ends with exit code 3. Only the files are checked.",
            "Only the seconds vary.",
        ]
    rounding = [
        "On another platform, or with other versions of the numerical libraries, numbers may",
        "differ by rounding, at most 1e-9 relatively: `numbers equal`, and the first that differs",
        "is named. Anything else is a failure. Only the seconds vary.",
    ]
    if facts.left_out:
        return [
            f"With the versions in {facts.lock} the scores and words of the {facts.replayed_cells}",
            "cells that are whole are those of their places in results.json: `numbers identical in",
            f"{facts.replayed_cells} of {facts.cells} cells`. The other cells, and every number",
            "computed over all cells, are not checked. The command ends with exit code 3.",
            *rounding,
        ]
    return [
        f"With the versions in {facts.lock} the recomputed results.json is the same to the byte:",
        "`numbers identical`.",
        *rounding,
    ]


def citation(facts: BundleFacts) -> str:
    """Return a citation file in the Citation File Format 1.2.0, its author to be filled in."""
    lines = [
        "cff-version: 1.2.0",
        'message: "If you use this recording, please cite it as below."',
        "type: dataset",
        f"title: {json.dumps(facts.title, ensure_ascii=False)}",
        "authors:",
        '  - name: "(the authors of the study: to be filled in)"',
        f"date-released: {facts.as_of}",
        f"version: {json.dumps(facts.fingerprint)}",
        f"doi: {PLACEHOLDER}",
    ]
    return "\n".join(lines) + "\n"
