"""Tiers are real: a source that is narrowed to a tier gives that tier's facts and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest
from asking.lookups import endpoint, first
from corpus.test_server import served
from depthcharge.test_walking import held
from drilling import said
from loopback import Answer, Loopback, Received

from harness.asking.sources.fact_source import open_source
from harness.corpus.entries import read_corpus
from harness.results import TIERS
from harness.study.folder import Study

DOMAIN = "Ancient Rome"
TITLES = {entry.title: entry for entry in read_corpus() if entry.domain == DOMAIN}
KINDS = {"COMMON": "wikipedia-summary", "TEXTBOOK": "wikipedia-extract"}


@pytest.mark.parametrize("kind", ["wikipedia-summary", "wikipedia-extract", "searxng"])
@pytest.mark.parametrize("tier", TIERS)
def test_a_tier_s_address_has_that_tier_s_facts_only(kind: str, tier: str) -> None:
    """Every title of the domain is looked up: what comes is of the tier, and all of it comes."""
    with served(read_corpus()) as url, httpx.HTTPTransport() as transport:
        source = open_source(endpoint(kind, f"{url}/ancient-rome/{tier}"), transport)
        passages = {
            title: first(source.look_up(f"at-{number}", title, None)).passage
            for number, title in enumerate(TITLES)
        }
    for title, passage in passages.items():
        assert passage is None or TITLES[passage.title].tier == tier
        assert TITLES[title].tier != tier or (passage is not None and passage.title == title)


def study_text(corpus: str, models: str) -> str:
    """Give a drill of one depth a tier over the package's corpus, a source for each tier."""
    sources = "".join(
        f'[sources.{tier}]\nkind = "{KINDS.get(tier, "searxng")}"\n'
        f'base_url = "{corpus}/{{domain}}/{tier}"\n'
        for tier in TIERS
    )
    tiers = "".join(f'{tier} = ["{tier}"]\n' for tier in TIERS)
    names = "".join(
        f'[models.{name}]\nbase_url = "{models}/v1"\nmodel = "{name}"\n'
        for name in ("target", "topics", "evaluator")
    )
    return (
        'title = "tiers"\nprotocol = "depthcharge"\nas_of = 2026-01-31\nseed = 1\n'
        f'{names}{sources}[depthcharge]\ntargets = ["target"]\nextractor = "cloze"\n'
        f'directions = "topics"\nevaluator = "evaluator"\ndomains = ["{DOMAIN}"]\nquestions = 5\n'
        f"passes = 1\nmax_depth = 5\nredeals = 5\n[depthcharge.tiers]\n{tiers}"
    )


def speak(received: Received) -> Answer:
    """Name titles of the corpus, tell a claim word for word, and compare texts."""
    asked, task = received.json()["model"], received.json()["messages"][-1]["content"]
    if asked == "topics":
        had = re.search(r"Leave these out: (.*)\.", task)
        fresh = [title for title in TITLES if title.casefold() not in (had[1] if had else "")]
        return said(json.dumps({"items": fresh[sum(task.encode()) % 7 :: 7] + fresh}))
    if asked == "target":
        title = task.partition('"')[2].partition('"')[0]
        return said(f"{TITLES[title].text} See also {', '.join(list(TITLES)[::9])}.")
    claim = task.partition("Key part of it: ")[2].split("\n")[0]
    answer = task.rpartition("<answer>")[2]
    right = {"correct": claim in answer, "confidence": 0.9, "reason": "Read.", "error_type": None}
    return said(json.dumps(right))


def test_each_depth_of_a_drill_asks_for_facts_of_its_tier(tmp_path: Path) -> None:
    """Recorded over the corpus with a source for each tier: no fact of another tier is asked."""
    folder = tmp_path / "cassettes" / "tiers"
    folder.mkdir(parents=True)
    with served(read_corpus()) as corpus, Loopback(speak) as models:
        (folder / "study.toml").write_text(study_text(corpus, models.url))
        run, transcript = held(Study(folder))
    by_depth = dict(enumerate(TIERS, 1))
    tiers = [(by_depth[one.depth], TITLES[one.passage.title].tier) for one in transcript.probes]
    assert tiers
    assert all(of_depth == of_fact for of_depth, of_fact in tiers)
    assert {of_depth for of_depth, _ in tiers} >= set(TIERS[:4])
    assert run.depths >= 4
