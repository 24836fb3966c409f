"""The bundled claims files: what must come out, and that a unit's move changes it.

The expected verdicts stand here and nowhere else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from golden.cases import SHARED, needs_shared

from harness.audit.auditor import AuditFinding, audit, bundled
from harness.audit.claims import ClaimsFile, read_claims
from harness.audit.printed import printed

ROOT = Path(__file__).parents[2]
CDCT = Path(__file__).with_name("cdct.toml")
DATA = {
    "cdct": SHARED / "data" / "cdct_judgements.csv",
    "ddft-local": ROOT / "cassettes" / "ddft-local" / "results.json",
}
FILES = {**bundled(), **({"cdct": CDCT} if DATA["cdct"].is_file() else {})}
MODELS = "o4-mini grok-4-fast mistral-medium gpt-oss-120b o3 phi-4 gpt-5 llama-4 claude-haiku"
EXPECTED = {
    "ddft": {
        "reproduced": (
            "parameters-p danger-robust danger-competent danger-brittle label-o4-mini "
            "label-grok-4-fast label-mistral-medium evaluations judgements"
        ),
        "possible": (
            "architecture-p turn-4-rho turn-1-rho turn-2-rho turn-3-rho turn-5-rho far-variance "
            "sas-variance pilot-variance-least formulas-tau without-turn-4-tau three-levels-tau "
            "parameters-gpt-5 turn-5-rate "
            + " ".join(f"danger-{model}" for model in MODELS.split())
        ),
        "reproduced*": (
            "turn-4-p turn-4-significant turn-1-p turn-2-p turn-3-p turn-5-p domains-p domains-eta "
            "far-deviation sas-deviation clear-variance"
        ),
        "other source differs": "parameters-o4-mini parameters-grok-4-fast mmlu-gpt-5",
        "contradicted": (
            "turn-4-direction mmlu-p partial-p turn-3-again label-gpt-5 label-claude-haiku "
            "edge-variance pilot-variance-most"
        ),
        "not checkable": (
            "parameters-r parameters-interval architecture-r architecture-interval "
            "turn-4-interval mmlu-rho partial-rho domains-f far-kappa far-kappa-label sas-kappa "
            "ten-levels-tau variance-turn-1 variance-retrieval mmlu-mistral turn-5-sessions "
            "turn-5-evaluations sas-start sas-end cost hours"
        ),
    },
    "ddft-second-table": {
        "reproduced": (
            "log-parameters-p-of-r reasoning-p reasoning-p-of-r turn-4-rho turn-4-p mmlu-rho"
        ),
        "possible": "reasoning-r " + " ".join(f"danger-{model}" for model in MODELS.split()),
        "reproduced*": "reasoning-interval turn-4-interval mmlu-p",
        "contradicted": "log-parameters-r log-parameters-p",
        "not checkable": (
            "log-parameters-interval " + " ".join(f"label-{model}" for model in MODELS.split())
        ),
    },
    "depthcharge": {
        "reproduced": "lifeboat-depth-1 lifeboat-depth-2 lifeboat-survivors",
        "possible": "questions evd-most",
        "not checkable": (
            "half-width evd-least aggregate-least aggregate-most common-least common-most "
            "textbook-least textbook-most professional-least professional-most shallow errors "
            "lifeboat-questions a-medicine a-quantum d-law d-medicine d-cost"
        ),
    },
}
FINDINGS = {
    ("ddft", "turn-4-rho"): ("sum of d^2 = 218",),
    ("ddft", "turn-4-p"): ("0.007225", "0.01077 with the exact test without ties"),
    ("ddft", "turn-4-significant"): (
        "0.007225",
        "0.01077",
        "Holm over 5 tests: 0.03612",
        "0.05385",
    ),
    ("ddft", "mmlu-rho"): ("not attainable without ties", "0.08571", "0.1429"),
    ("ddft", "mmlu-p"): (
        "0.8209",
        "not attainable without ties",
        "nor does an exact test of any ranking with ties",
    ),
    ("ddft", "partial-p"): ("df = 5", "0.07386"),
    ("ddft", "label-gpt-5"): ("Competent",),
    ("ddft", "domains-eta"): ("0.003852", "df = (7, 1792)", "not independent"),
    ("ddft", "domains-p"): ("0.4366", "df = (7, 1792)", "not independent"),
    ("ddft", "turn-4-direction"): ("the more error detection (turn 4 FAR), the less robustness",),
    ("ddft", "edge-variance"): ("0.1867", "0.280", "standard deviation"),
    ("ddft-second-table", "turn-4-p"): ("0.0003527",),
    ("ddft-second-table", "log-parameters-r"): ("0.3164",),
    ("ddft-second-table", "log-parameters-p"): ("0.4069",),
    ("ddft-second-table", "reasoning-interval"): (
        "[-0.938, -0.040]",
        "[-0.934, -0.036] with the legacy generator",
    ),
    ("depthcharge", "half-width"): ("16.85", "12 needs n = 63"),
}
COEFFICIENT = "the coefficient is printed to three places and leaves p a range"
POSSIBLE = "only says that the figure is possible, and its neighbours are too"
HOLDS = {"reproduced", "possible", "reproduced*"}
KEPT = {
    ("ddft", "turn-4-significant"): "p < 0.02 holds where p < 0.01 does",
    ("ddft", "parameters-p"): COEFFICIENT,
    ("ddft", "architecture-p"): COEFFICIENT,
    ("ddft", "turn-1-p"): COEFFICIENT,
    ("ddft", "turn-2-p"): COEFFICIENT,
    ("ddft", "turn-3-p"): COEFFICIENT,
    ("ddft", "turn-5-p"): COEFFICIENT,
    ("ddft-second-table", "log-parameters-p-of-r"): COEFFICIENT,
    ("ddft-second-table", "reasoning-p-of-r"): COEFFICIENT,
    ("ddft", "domains-p"): "F is printed to two places and leaves p a range",
    ("ddft", "far-variance"): POSSIBLE,
    ("ddft", "sas-variance"): POSSIBLE,
    ("ddft", "far-deviation"): POSSIBLE,
    ("ddft", "sas-deviation"): POSSIBLE,
    ("ddft", "clear-variance"): POSSIBLE,
    ("ddft", "pilot-variance-least"): POSSIBLE,
    ("ddft", "formulas-tau"): "0.944 is the first above 0.889: a bound between them moves freely",
    ("ddft", "without-turn-4-tau"): "as formulas-tau",
    ("ddft", "turn-5-rate"): "a count of 360 is a finer step than a whole percent",
    ("ddft-second-table", "reasoning-r"): "CI is printed to three places and leaves r a range",
    ("ddft-second-table", "reasoning-p"): "CI is printed to three places and leaves p a range",
    ("ddft-second-table", "turn-4-p"): "p < 0.002 holds where p < 0.001 does",
    ("ddft-second-table", "reasoning-interval"): "ten thousand resamples leave each end +-0.02",
    ("ddft-second-table", "turn-4-interval"): "ten thousand resamples leave the upper end +-0.01",
}
HALF = "the value ends on a half, which may be printed up or down"
KEPT |= {("cdct", "cc-at-0-0"): HALF, ("cdct", "cc-at-1-0"): HALF}

Entry = dict[str, Any]


def data_of(name: str) -> Path | None:
    return DATA.get(name)


@cache
def document(name: str) -> Entry:
    return tomllib.loads(FILES[name].read_text("utf-8"))


def audited(name: str, claim: str, entry: Entry) -> AuditFinding:
    file = ClaimsFile.model_validate({**document(name), "claim": {claim: entry}})
    return audit(FILES[name], file, data_of(name)).findings[0]


def moved(text: str, units: int) -> str:
    """Write a printed number so many units of its last place further."""
    number = printed(text)
    value = number.value + units * number.unit
    if "e" in text:
        mantissa, _, exponent = text.partition("e")
        return f"{moved(mantissa, units)}e{exponent}"
    return f"{number.bound} {float(value):.{number.places}f}".strip()


def moves(published: Any) -> Iterator[Any]:
    """Give what is printed, each of its numbers a unit up and down in turn; nothing for words."""
    if isinstance(published, list):
        for place, end in enumerate(published):
            for units in (-1, 1):
                yield [*published[:place], moved(end, units), *published[place + 1 :]]
    elif re.search(r"\d", published) and not re.search(r"\d-\d", published):
        yield from (moved(published, units) for units in (-1, 1))


def everything() -> list[Any]:
    return [
        pytest.param(name, claim, entry, id=f"{name}/{claim}")
        for name in FILES
        for claim, entry in document(name)["claim"].items()
    ]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_claim_has_its_verdict(name: str) -> None:
    """All of them, and none without an expectation."""
    found = audit(FILES[name], read_claims(FILES[name]))
    expected = {c: verdict for verdict, claims in EXPECTED[name].items() for c in claims.split()}
    assert {finding.claim: finding.verdict for finding in found.findings} == expected


@pytest.mark.parametrize(("place", "words"), FINDINGS.items(), ids="/".join)
def test_the_findings_come_out_as_written(place: tuple[str, str], words: tuple[str, ...]) -> None:
    """What an independent recomputation found stands in the row."""
    name, claim = place
    found = audited(name, claim, document(name)["claim"][claim])
    for word in words:
        assert word in f"{found.recomputed}; {found.why}"


@pytest.mark.parametrize(("name", "claim", "entry"), everything())
def test_a_unit_more_or_less_changes_the_verdict(name: str, claim: str, entry: Entry) -> None:
    """Of a claim that holds, unless rounding leaves room (KEPT says why); none becomes true.

    A neighbour that would be right if it were cut off is left out.
    """
    now = audited(name, claim, entry).verdict
    neighbours = [
        audited(name, claim, {**entry, "published": each}) for each in moves(entry["published"])
    ]
    then = {each.verdict for each in neighbours if "cut off" not in each.why}
    if now in HOLDS:
        assert bool(then & HOLDS) == ((name, claim) in KEPT), then
    else:
        assert then <= {now}


@pytest.mark.parametrize(("name", "claim", "entry"), everything())
def test_other_words_change_the_verdict(name: str, claim: str, entry: Entry) -> None:
    """A label, a direction: the right one is reproduced, every other one contradicted.

    Where the rule of the labels is assumed: the right one under it, every other one not checkable.
    """
    words = {
        "label_rule": [*entry.get("above", {}), entry.get("otherwise")],
        "direction": ["positive", "negative"],
    }.get(entry["check"], [])
    if entry["check"] == "label_rule" and "above" not in entry:
        return
    key = "reads_as" if entry["check"] == "direction" else "published"
    verdicts = [audited(name, claim, {**entry, key: word}).verdict for word in words]
    right, wrong = ("reproduced", "contradicted")
    if entry.get("assuming"):
        right, wrong = ("reproduced*", "not checkable")
    assert sorted(verdicts) == sorted([right, *[wrong] * (len(words) - 1)][: len(words)])


def test_no_file_says_what_should_come_out() -> None:
    """No verdict's name stands in a claims file, and every claim names its place."""
    for path in FILES.values():
        text = path.read_text("utf-8")
        assert not re.search(r"reproduce|contradict|checkable", text), path
        assert all(claim.place for claim in read_claims(path).claim.values())


@needs_shared
def test_every_figure_of_the_specification_is_there() -> None:
    """Each number that audit.md says the papers print stands in a bundled file."""
    text = (SHARED / "spec" / "audit.md").read_text("utf-8")
    start, end = text.index("## The two bundled claims files"), text.index("## What an independent")
    figures = re.findall(r"-?\d[\d,]*\.?\d*", text[start:end].replace("+-", " ").replace("–", "-"))
    known = "\n".join(
        path.read_text("utf-8") for path in (ROOT / "harness" / "audit" / "data").iterdir()
    )
    numbers = {Fraction(each) for each in re.findall(r"-?\d+\.?\d*", known)}
    missing = [
        figure
        for figure in figures
        if Fraction(figure.replace(",", "").strip(".")) not in numbers
        and abs(Fraction(figure.replace(",", "").strip("."))) not in numbers
    ]
    assert missing == []
