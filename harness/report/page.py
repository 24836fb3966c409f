"""The page: one HTML file that loads nothing and runs nothing but its own script.

A Content-Security-Policy in its head allows exactly the one style and the one script that are in
it, by their hashes. Whatever comes from a model or an endpoint is escaped by the template, or is
JSON that the script writes as text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.report import ddft_results, drill_results
from harness.report.browser import Browser, safe_json
from harness.report.coverage import coverage
from harness.report.ddft_jury import jury
from harness.report.dialogues import dialogues
from harness.report.drawing import png, svg
from harness.report.figure import Figure
from harness.report.form import Studied
from harness.report.limits import limits
from harness.report.overview import what_was_run
from harness.report.palette import declarations
from harness.report.probes import probes
from harness.report.section import Drawn, Section
from harness.results import DrillResults, Results
from harness.version import VERSION

DATA = Path(__file__).parent / "data"


class Article(NamedTuple):
    """A study's part of the page."""

    studied: Studied
    limits: Sequence[str]
    sections: Sequence[Section]
    browser: Browser


def article(studied: Studied) -> Article:
    """Put a study's part of the page together."""
    found = studied.found
    middle = _of_dialogues(found) if isinstance(found, Results) else _of_runs(studied, found)
    browser = dialogues(studied) if isinstance(found, Results) else probes(studied)
    sections = [what_was_run(studied), *middle, coverage(studied)]
    return Article(studied, limits(studied), sections, browser)


def _of_dialogues(found: Results) -> list[Section]:
    return [
        ddft_results.results(found),
        ddft_results.drawn(found),
        ddft_results.study_level(found),
        jury(found),
    ]


def _of_runs(studied: Studied, found: DrillResults) -> list[Section]:
    return [
        drill_results.results(found),
        drill_results.drawn(found, studied.bands),
        drill_results.study_level(found),
    ]


def page(articles: Sequence[Article]) -> bytes:
    """Give the HTML file of one study or several; the same input gives the same bytes."""
    style, script = _style(), (DATA / "browser.js").read_text("utf-8")
    text = (
        _environment()
        .get_template("page.html")
        .render(
            articles=articles,
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
            version=VERSION,
        )
    )
    return text.encode("utf-8", "replace")


def pictures(one: Article) -> dict[str, bytes]:
    """Give the study's figures as PNG, by file name."""
    drawn = [part for section in one.sections for part in section.parts if isinstance(part, Drawn)]
    return {f"{one.studied.name}--{part.figure.name}.png": png(part.figure) for part in drawn}


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(DATA),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"svg": _svg, "json": _json}
    return environment


def _svg(figure: Figure) -> Markup:
    return Markup(svg(figure))


def _json(browser: Browser) -> Markup:
    return Markup(safe_json(browser))


def _style() -> str:
    colours = (
        f":root {{ {declarations('light')} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {declarations('dark')} }} }}\n"
    )
    return colours + (DATA / "page.css").read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Allow the one style and the one script, by what they hash to, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_hashed(style)}'; script-src '{_hashed(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
