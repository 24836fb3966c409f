"""Names of cells: any domain and any model has one, and no two have the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from drilling import answering, world, write_drill
from loopback import Loopback
from provider import Provider
from study_folder import edit, write_study

from harness.errors import UsageError
from harness.results import CellKey, RunKey, name_part, slug
from harness.run.record import Recording
from harness.run.replay import sound_replays
from harness.run.verdict import replay
from harness.study.folder import Study

DOMAINS = (
    "Women's Health",
    "Pharmacology & Toxicology",
    "M\u00e9decine",
    "\u533b\u5b66",
    "EU law, competition",
    "C++ (language)",
    "a\u0301 la carte",
    "a" * 60,
)


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        ("Ancient Rome", "ancient-rome"),
        ("  Quantum  Computing", "quantum-computing"),
        ("v2.0_beta", "v2.0_beta"),
        ("Women's Health", "womens-health"),
        ("Pharmacology & Toxicology", "pharmacology-toxicology"),
        ("EU law, competition", "eu-law-competition"),
    ],
)
def test_a_name_that_loses_no_letter_is_plain(domain: str, name: str) -> None:
    """Names that studies have already stay; spaces and punctuation go without a mark."""
    assert slug(domain) == name


@pytest.mark.parametrize(
    ("text", "plain", "marked"),
    [
        ("GPT-4.1", "GPT-4.1", False),
        ("org/model", "org-model", False),
        ("org/m\u00f6del", "org-model", True),
        ("\u6a21\u578b", "", True),
        ("C++", "C", True),
    ],
)
def test_a_lost_letter_leaves_a_mark(text: str, plain: str, marked: bool) -> None:
    """Eight hexadecimal digits tell apart what looks the same without its letters."""
    tail = r"-?[0-9a-f]{8}" if marked else ""
    assert re.fullmatch(re.escape(plain) + tail, name_part(text))


def test_every_name_is_a_file_s() -> None:
    """Whatever the script or the length: ASCII, no slash, no space, and all different."""
    names = [RunKey("org/m\u00f6del", domain).name for domain in DOMAINS]
    names.append(CellKey("org/model", "recursion", 0.5).name)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name) for name in names)
    assert len({name.casefold() for name in names}) == len(names)


@pytest.mark.parametrize(
    ("domains", "targets"),
    [
        (("Women's Health", "womens health"), ("target-1",)),
        (("Medicine",), ("org/model", "org-model")),
    ],
)
def test_names_that_meet_are_refused(
    tmp_path: Path, domains: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    """Two that would share a cell's name: the message has both."""
    folder = write_drill(tmp_path, "http://127.0.0.1:1").folder
    study = Study(folder)
    listed = ", ".join(f'"{domain}"' for domain in domains)
    edit(study, 'domains = ["Medicine"]', f"domains = [{listed}]")
    edit(study, 'targets = ["target-1"]', f"targets = {list(targets)}".replace("'", '"'))
    with pytest.raises(UsageError) as caught:
        Study(folder)
    first, second = domains if len(domains) > 1 else targets
    assert first in str(caught.value)
    assert second in str(caught.value)


@pytest.mark.parametrize("domain", ["", " Rome", "Rome\\u0007", "Rome\\u202e"])
def test_what_cannot_be_seen_is_no_name(tmp_path: Path, domain: str) -> None:
    """A control character, a mark of direction, a space at an end, and nothing at all."""
    study = write_drill(tmp_path, "http://127.0.0.1:1")
    edit(study, 'domains = ["Medicine"]', f'domains = ["{domain}"]')
    with pytest.raises(UsageError, match="domains"):
        Study(study.folder)


def test_a_drill_of_any_domain_replays(tmp_path: Path) -> None:
    """Recorded and replayed: domains of other scripts, and a target with a slash."""
    domains = ("Women's Health", "\u533b\u5b66")
    with Loopback(answering(world())) as server:
        study = write_drill(tmp_path, server.url, questions=2, max_depth=1)
        edit(study, 'domains = ["Medicine"]', f'domains = ["{domains[0]}", "{domains[1]}"]')
        edit(study, "[models.target-1]", '[models."org/model"]')
        edit(study, 'targets = ["target-1"]', 'targets = ["org/model"]')
        study = Study(study.folder)
        assert Recording(study).run().problems == []
    assert replay(study, verify_checksums=True).ok
    assert [one.result.cell.domain for one in sound_replays(study)] == sorted(domains)


def test_a_dialogue_of_a_model_with_a_slash_replays(tmp_path: Path) -> None:
    """Subject and judge are named org/model, as routers and hubs name models."""
    with Loopback(Provider()) as server:
        study = write_study(tmp_path, server.url, levels="[0.0]")
        for name in ("subject-a", "judge-a"):
            edit(study, f'[models."{name}"]', f'[models."org/{name}"]')
        edit(study, "['subject-a']", "['org/subject-a']")
        edit(study, '["judge-a"', '["org/judge-a"')
        study = Study(study.folder)
        assert Recording(study).run().problems == []
    assert replay(study, verify_checksums=True).ok
