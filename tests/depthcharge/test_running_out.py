"""Sources that run out: not knowledge that ends, said first, and without a rank."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from depthcharge.finished_runs import RULES, counted, run_of, scored, unverifiable
from drilling import answering, role, world, write_drill
from loopback import Answer, Answering, Loopback, Received, json_answer
from study_folder import edit

from harness.bundle.sample import sampled
from harness.cli import main
from harness.protocols.depthcharge.study_table import depthcharge_plan
from harness.report.limits import limits
from harness.report.write import replayed_study
from harness.results import DrillResults, RunKey, read_results
from harness.run.record import Recording, RecordOutcome
from harness.run.replay import replayed_results
from harness.run.verdict import replay, replayed
from harness.study.folder import Study


def recorded(study: Study) -> tuple[RecordOutcome, DrillResults]:
    """Record a study, and compute its results as a replay does."""
    outcome = Recording(study).run()
    assert outcome.problems == []
    found = replayed_results(study)
    assert isinstance(found, DrillResults)
    return outcome, found


def undated(received: Received, answer: Answer) -> Answer:
    """Take the dates off a search's results, as most engines behind a SearXNG give none."""
    if role(received) != "source" or not received.path.endswith("/search"):
        return answer
    results = json.loads(answer.body)["results"]
    return json_answer({"results": [{**one, "publishedDate": None} for one in results]})


def lacking(share: float) -> Answering:
    """Answer as a world in which a share of the topics has no page."""
    return answering(world(accuracy=(1.0,), absent=share))


def test_facts_that_run_out_end_a_run_by_its_sources(tmp_path: Path) -> None:
    """No result of the newest tier has a date: EVD is a lower bound, and that is said first."""
    with Loopback(answering(world(accuracy=(1.0,)), undated)) as server:
        study = write_drill(tmp_path, server.url, max_depth=6, passes=1)
        outcome, found = recorded(study)
    [run] = found.runs
    assert (run.stop, run.short) == ("sources", [5])
    assert run.evd.value.value == 4.0
    assert (run.evd.censored, run.evd.at_most.value) == (True, 6.0)
    [notice] = found.notices
    assert "1 of 1 runs are short of facts and get no rank" in notice
    assert "at depth 5 6 of 6 questions had none" in notice
    assert list(outcome.notices) == [notice]


def test_a_short_study_says_so_wherever_it_is_shown(tmp_path: Path) -> None:
    """results.json, the verdict, analyze, record and the page: before any number."""
    with Loopback(lacking(0.9)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1, redeals=0)
        command = ["record", str(study.folder)]
        said = CliRunner().invoke(main, command).output.splitlines()
    [notice] = read_results(study.results)["notices"]
    assert notice in said[-3:]
    verdict = replay(study, verify_checksums=True)
    assert verdict.ok, verdict.problems
    assert f"OK: {notice}; " in verdict.line
    shown = CliRunner().invoke(main, ["analyze", str(study.folder)])
    assert shown.output.startswith(notice)
    page_study = replayed_study(study, replayed(study, verify_checksums=True))
    assert limits(page_study, [])[0] == notice


@pytest.mark.parametrize(("limit", "short"), [(0.5, [1]), (0.9, [])])
def test_how_few_facts_are_too_few_can_be_set(
    tmp_path: Path, limit: float, short: list[int]
) -> None:
    """Four of six slots have no fact: short by the default and by a half, not by nine tenths."""

    def two(received: Received, answer: Answer) -> Answer:
        topics = ("Medicine1", "Medicine2")
        page = "/page/summary/" in received.path
        return answer if not page or received.path.endswith(topics) else json_answer({}, 404)

    with Loopback(answering(world(accuracy=(1.0,)), two)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1, redeals=0, unverifiable_limit=limit)
        _, found = recorded(study)
    assert found.runs[0].short == short
    assert bool(found.notices) == bool(short)


def test_ranks_are_drawn_without_short_runs() -> None:
    """Of three targets one lacked facts: the others are ranked as if it were not there."""
    without = [unverifiable(2, question) for question in range(24, 31)]
    probes = {
        "a": [*counted([30, 23], [30, 23]), *without],
        "b": counted([30, 15]),
        "c": counted([30, 20]),
    }
    runs = [run_of(of, RunKey(target, "Law")) for target, of in probes.items()]
    found = scored(runs, RULES)
    ranks = {"a": None, "b": 2, "c": 1}
    assert {cell.target: cell.rank for cell in found.analysis.cells} == ranks
    assert {target.target: target.rank for target in found.analysis.targets} == ranks


def test_a_domain_has_sources_of_its_own(tmp_path: Path) -> None:
    """Law looks things up elsewhere; {domain} stands in addresses, queries and options."""
    with Loopback(answering(world(accuracy=(1.0,)))) as server:
        study = write_drill(
            tmp_path, server.url, domains=("Law", "Medicine"), questions=2, max_depth=1
        )
        own = '[sources.cases]\nkind = "searxng"\noptions = { categories = "{domain} cases" }\n'
        edit(study, "[sources.engine]", f'{own}base_url = "{server.url}/cases"\n[sources.engine]')
        tiers = '[depthcharge.domain."Law"]\ntiers = { COMMON = ["cases"] }\n[record]'
        edit(study, "[record]", tiers)
        _, found = recorded(Study(study.folder))
        searches = [r for r in server.received if r.path == "/cases/search"]
    asked = {cell.cell.domain: list(cell.lookups) for cell in found.cells}
    assert asked == {"Law": ["cases"], "Medicine": ["wiki"]}
    assert searches
    assert all("categories=Law+cases" in received.query for received in searches)
    part = sampled(Study(study.folder), 0.5, tmp_path / "part")
    assert len(depthcharge_plan(part).domains) == 1
    assert set(depthcharge_plan(part).domain) <= set(depthcharge_plan(part).domains)
