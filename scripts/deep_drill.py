"""One deep drill, simulated: recorded, replayed, and measured beside its floor.

30 questions at each of 15 depths make over 2,000 calls of models and sources. A world of its own
plays them all; the real commands record and replay in a temporary folder. The floor is as many
`httpx.Client.post` over `httpx.MockTransport`. Everything is wall time on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from pathlib import Path

from paper_size import provider, run, show_replays

REPLAY_IMPORTS = (
    "import harness.cli, harness.bundle.replay, harness.protocols.depthcharge.analysis.analyze"
)
TIERS = ("COMMON", "TEXTBOOK", "PROFESSIONAL", "SPECIALIST")
MODELS = ("target-1", "extractor", "evaluator")


def study_text(url: str, pages: str, questions: int, depths: int) -> str:
    """Give a study.toml for models at one address and pages at another."""
    models = "".join(
        f'[models.{name}]\nbase_url = "{url}/v1"\nmodel = "{name}"\n\n' for name in MODELS
    )
    tiers = "".join(f'{tier} = ["pages"]\n' for tier in TIERS) + 'CUTTING_EDGE = ["search"]\n'
    return (
        'title = "A deep drill"\nprotocol = "depthcharge"\nas_of = 2026-01-31\nseed = 42\n\n'
        f'{models}[sources.pages]\nkind = "wikipedia-summary"\nbase_url = "{pages}"\n\n'
        f'[sources.search]\nkind = "searxng"\nbase_url = "{pages}"\n\n'
        '[depthcharge]\ntargets = ["target-1"]\nextractor = "extractor"\n'
        f'evaluator = "evaluator"\ndomains = ["Medicine"]\nquestions = {questions}\n'
        f"max_depth = {depths}\n\n[depthcharge.tiers]\n{tiers}\n[record]\nworkers = 8\n"
    )


def recorded(root: Path, questions: int, depths: int) -> tuple[Path, int]:
    """Record the study, say how long that took, and give its folder and its calls."""
    folder = root / "cassettes" / "deep-drill"
    folder.mkdir(parents=True)
    with provider(root, "simulated_drill.py", "--accuracy", "0.97") as url:
        (folder / "study.toml").write_text(study_text(url, url, questions, depths))
        done = run("-m", "harness", "record", str(folder))
    cassettes = [path for path in folder.glob("*.json") if "--" in path.name]
    calls = sum(len(json.loads(path.read_bytes())["interactions"]) for path in cassettes)
    run_ = json.loads((folder / "results.json").read_bytes())["runs"][0]
    asked = [depth["asked"] for depth in run_["depths"]]
    print(
        f"record: {calls} calls, {done.wall:.1f} s, {calls / done.wall:.0f} calls/s; asked at each "
        f"depth: {asked}; EVD {run_['evd']['value']['value']:.2f}, stop: {run_['stop']}"
    )
    return folder, calls


def main() -> None:
    """Read the arguments, build, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="5 depths of 10 in place of 15 of 30")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    size = (10, 5) if arguments.small else (30, 15)
    with tempfile.TemporaryDirectory(prefix="deep-drill-") as root:
        show_replays(*recorded(Path(root), *size), REPLAY_IMPORTS)


if __name__ == "__main__":
    main()
