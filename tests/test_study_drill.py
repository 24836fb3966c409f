"""study.toml of a drill: a mistake is told with its place, what was expected, what was found."""

from __future__ import annotations

from pathlib import Path

import pytest
from drilling import write_drill
from study_folder import edit

from harness.errors import UsageError
from harness.protocols.depthcharge.protocol import recent
from harness.results import RunKey, tier_of
from harness.study.folder import Study


@pytest.fixture
def drill(tmp_path: Path) -> Study:
    return write_drill(tmp_path, "http://127.0.0.1:1", domains=("Medicine", "Ancient Rome"))


def test_the_grid_is_targets_domains_repeats(tmp_path: Path) -> None:
    """A run for each target, domain and repeat; its name goes into a file's."""
    study = write_drill(
        tmp_path, "http://127.0.0.1:1", targets=("a", "b"), domains=("Ancient Rome",), repeats=2
    )
    names = [cell.name for cell in study.cells()]
    assert names == [
        "a--ancient-rome--r1",
        "a--ancient-rome--r2",
        "b--ancient-rome--r1",
        "b--ancient-rome--r2",
    ]
    assert study.cells()[0] == RunKey("a", "Ancient Rome", 1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"Ancient Rome"', '"medicine"', ["domains", "both 'medicine'"]),
        ('evaluator = "evaluator"', 'evaluator = "nobody"', ["[models.nobody]"]),
        ('COMMON = ["wiki"]', 'COMMON = ["web"]', ["[sources.web]", "wiki"]),
        ('COMMON = ["wiki"]', "COMMON = []", ["depth 1 is COMMON", "no source"]),
        ('COMMON = ["wiki"]', 'COMMON = ["wiki"]\nVAGUE = ["wiki"]', ["VAGUE"]),
        ("questions = 6", "questions = 0", ["line", "questions", "0"]),
        ("questions = 6", "question = 6", ["line", "question"]),
        ('kind = "wikipedia-summary"', 'kind = "encyclopedia"', ["kind", "encyclopedia"]),
        ('kind = "wikipedia-summary"', 'kind = "brave"', ["api_key_env"]),
        *(
            (
                "http://127.0.0.1:1/wiki",
                url,
                ["line", "sources.wiki.base_url", url.replace("{domain}", "domain")],
            )
            for url in ("http://[::1/{domain}", "http:///w", "http://exa mple", "http://h:99999")
        ),
        ("http://127.0.0.1:1/wiki", "https://en.wikipedia.org", ["contact"]),
        (
            'kind = "searxng"',
            'kind = "searxng"\noptions = { langage = "en" }',
            ["langage", "language"],
        ),
        (
            'kind = "searxng"',
            'kind = "searxng"\noptions = { engines = "{domian}" }',
            ["{domian}", "mean {domain}"],
        ),
        ('kind = "searxng"', 'kind = "searxng"\nfetch = 3', ["fetch"]),
        ('kind = "wikipedia-summary"', 'kind = "wikipedia-summary"\nfetch = true', ["fetch reads"]),
        ('kind = "searxng"', 'kind = "searxng"\ncontact = "me (at) home"', ["contact", "pattern"]),
        ('extractor = "extractor"', 'extractor = "cloze"', ['directions = "MODEL"']),
        ('extractor = "extractor"', 'extractor = "extractor"\ndirections = "a"', ["directions"]),
        ("questions = 6", "questions = 6\npasses = { COMMON = 0 }", ["passes", "0"]),
        ("questions = 6", "questions = 6\ndomain.Law.tiers.COMMON = ['wiki']", ["Law", "domains"]),
        (
            "questions = 6",
            "questions = 6\ndomain.Medicine.tiers.COMMON = []",
            ["domain.'Medicine'", "no source"],
        ),
        (
            "questions = 6",
            "questions = 6\ndomain.Medicine.tiers.COMMON = ['web']",
            ["[sources.web]"],
        ),
        ("[depthcharge]", "[depthcharge2]", ["depthcharge"]),
        ('protocol = "depthcharge"', 'protocol = "ddft"', ["[ddft] is missing"]),
    ],
)
def test_a_mistake_is_told_with_its_place(
    drill: Study, old: str, new: str, told: list[str]
) -> None:
    """The message names the file, the key or the line, and what stands there."""
    edit(drill, old, new)
    with pytest.raises(UsageError) as caught:
        Study(drill.folder)
    for word in ["study.toml", *told]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("depth", "tier"),
    [(1, "COMMON"), (3, "COMMON"), (4, "TEXTBOOK"), (12, "SPECIALIST"), (13, "CUTTING_EDGE")],
)
def test_tiers_follow_the_papers_table(depth: int, tier: str) -> None:
    """Three passes a tier, and what lies beyond the fifth stays in it."""
    assert tier_of(depth, 3) == tier
    assert tier_of(15 + depth, 3) == "CUTTING_EDGE"


@pytest.mark.parametrize(
    ("passes", "tiers"),
    [
        (1, "COMMON TEXTBOOK PROFESSIONAL SPECIALIST CUTTING_EDGE CUTTING_EDGE"),
        ({"COMMON": 2, "TEXTBOOK": 1, "PROFESSIONAL": 1}, "COMMON COMMON TEXTBOOK PROFESSIONAL"),
        ({"COMMON": 1}, "COMMON TEXTBOOK TEXTBOOK TEXTBOOK PROFESSIONAL"),
    ],
)
def test_each_tier_may_have_its_own_q(passes: int | dict[str, int], tiers: str) -> None:
    """One Q for all tiers or one by tier, 3 where none is named."""
    depths = range(1, len(tiers.split()) + 1)
    assert [tier_of(depth, passes) for depth in depths] == tiers.split()


@pytest.mark.parametrize(
    ("months", "start"), [(24, "2024-03-31"), (1, "2026-02-28"), (13, "2025-02-28")]
)
def test_the_newest_tier_looks_back_as_far_as_the_study_says(
    drill: Study, months: int, start: str
) -> None:
    """Whole months before as_of, the last day of a month that is shorter."""
    edit(drill, "as_of = 2026-01-31", "as_of = 2026-03-31")
    edit(drill, "questions = 6", f"questions = 6\nrecent_months = {months}")
    assert recent(Study(drill.folder)) == (start, "2026-03-31")


def test_limits_and_titles_are_no_part_of_what_is_recorded(drill: Study) -> None:
    """Another title, another rate for a source: the recording goes on; other rules: it does not."""
    materials = b'{"prompts": {}}'
    before = drill.identity(materials)
    edit(drill, 'title = "a drill"', 'title = "the drill"')
    edit(drill, 'kind = "wikipedia-summary"', 'kind = "wikipedia-summary"\nconcurrency = 9')
    assert Study(drill.folder).identity(materials) == before
    edit(drill, "max_depth = 3", "max_depth = 4")
    assert Study(drill.folder).identity(materials) != before
