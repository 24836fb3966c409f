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

from harness.page.browser import Browser, safe_json
from harness.page.figure import Figure
from harness.page.page import ProtocolPage, Section, figure_table
from harness.page.replayed_study import AnyStudy
from harness.report.coverage import COVERAGE, coverage, missing_cells
from harness.report.drawing import png, svg
from harness.report.limits import limits
from harness.report.overview import RUN, overview_tables
from harness.report.palette import declarations
from harness.results.glossary import Term
from harness.results.table import Table
from harness.results.text_table import TextTable, text_table
from harness.version import VERSION

DATA = Path(__file__).parent / "data"
FIGURES = Section("figures", "Figures")


class FigureWithNumbers(NamedTuple):
    """A figure, and the table of its points."""

    figure: Figure
    numbers: TextTable
    kind: str = "figure"


class FilledSection(NamedTuple):
    """A section with what is in it; a reader sees `about` below its title."""

    slug: str
    title: str
    about: str
    contents: Sequence[TextTable | FigureWithNumbers]


class Article(NamedTuple):
    """A study's part of the page."""

    study: AnyStudy
    findings: Sequence[str]
    glossary: Sequence[Term]
    limits: Sequence[str]
    sections: Sequence[FilledSection]
    browser: Browser


def article(
    study: AnyStudy,
    of_protocol: ProtocolPage,
    tables: Sequence[Table],
    findings: Sequence[str],
) -> Article:
    """Put a study's part of the page together; tables, findings: all those of its results."""
    first, *further = of_protocol.sections
    sections = [
        _filled(RUN, overview_tables(study, of_protocol.reference)),
        _filled(first, _unplaced(of_protocol, tables)),
        *([drawn_figures(of_protocol.figures)] if of_protocol.figures else []),
        *(_filled(section, _in(section, tables)) for section in further),
        _filled(coverage(study), [*missing_cells(study), *_in(COVERAGE, tables)]),
    ]
    return Article(
        study=study,
        findings=findings,
        glossary=of_protocol.glossary,
        limits=limits(study, of_protocol.limits),
        sections=sections,
        browser=of_protocol.browser,
    )


def _in(section: Section, tables: Sequence[Table]) -> list[Table]:
    return [table for table in tables if table.section == section.slug]


def _unplaced(of_protocol: ProtocolPage, tables: Sequence[Table]) -> list[Table]:
    """Return the tables of the first section, and those of none that there is."""
    placed = {COVERAGE.slug, *(section.slug for section in of_protocol.sections[1:])}
    return [table for table in tables if table.section not in placed]


def _filled(section: Section, tables: Sequence[Table]) -> FilledSection:
    return FilledSection(*section, contents=[text_table(table) for table in tables])


def drawn_figures(figures: Sequence[Figure]) -> FilledSection:
    """Return the figures that have a point to show; those that have none are named."""
    empty = [figure.title for figure in figures if figure.is_empty]
    about = f"Not drawn, for want of a value: {'; '.join(empty)}." if empty else ""
    drawn = [
        FigureWithNumbers(figure, text_table(figure_table(figure)))
        for figure in figures
        if not figure.is_empty
    ]
    return FilledSection(FIGURES.slug, FIGURES.title, about, drawn)


def page(articles: Sequence[Article]) -> bytes:
    """Return the HTML file of one study or several; the same input gives the same bytes."""
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


def pictures(article: Article) -> dict[str, bytes]:
    """Return the study's figures as PNG, by file name."""
    figures = [
        content.figure
        for section in article.sections
        for content in section.contents
        if isinstance(content, FigureWithNumbers)
    ]
    return {f"{article.study.name}--{figure.name}.png": png(figure) for figure in figures}


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
