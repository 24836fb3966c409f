"""What may be handed on of a recording: the licences of passages, and whose terms count.

A licence is that of the passage, as the kind of the source reads it; one that it does not tell is
unknown, and unknown is not open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import httpx

from harness.asking.models.provider import provider_of
from harness.asking.sources.inquiry import NoAnswer, SourceReply
from harness.asking.sources.pages import is_page, is_robots
from harness.asking.sources.source_kind import kind_of
from harness.recording.interaction import Interaction
from harness.run.endpoints import with_endpoints
from harness.run.wiring import frozen
from harness.study.folder import Study
from harness.study.hosts import host_of, is_local

UNKNOWN = "unknown"
OPEN = re.compile(
    r"(?i)(?!.*\bn[cd]\b)"  # neither "non-commercial" nor "no derivatives"
    r"(cc0|cc[ -]by|public domain|pddl|odc-by|odbl|gfdl|open government|mit\b|apache)"
)


class Page(NamedTuple):
    """A text of a source: its title, where it stands, and its licence or "unknown"."""

    title: str
    url: str
    licence: str

    @property
    def is_open(self) -> bool:
        """Return whether it may be handed on by everybody."""
        return OPEN.match(self.licence) is not None


def pages(kind: str, interaction: Interaction) -> list[Page]:
    """Return other people's texts in a look-up's reply, as the source's kind reads it.

    What it cannot read may hold anything: one page of unknown licence stands for it, and for a page
    that was fetched, which says nothing of its licence.
    """
    call, body = interaction.response.call or "", interaction.body_bytes
    if is_robots(call):
        return []  # what a host allows is nobody's text
    if not body.strip() or interaction.response.status.code >= 300:
        return []
    unknown = [Page("", interaction.request.uri, UNKNOWN)]
    if is_page(call):
        return unknown
    try:
        passages = list(kind_of(kind).passages(_reply(interaction), ""))
    except NoAnswer:
        return unknown
    return [
        Page(passage.title, passage.url, passage.licence or UNKNOWN)
        for passage in passages
        if passage.text.strip()
    ]


def _reply(interaction: Interaction) -> SourceReply:
    call, response = interaction.response.call or "", interaction.response
    return SourceReply(
        step=call.rpartition("/")[2],
        url=httpx.URL(interaction.request.uri),
        status=response.status.code,
        headers=httpx.Headers(interaction.header_pairs),
        content=interaction.body_bytes,
        where=call,
    )


def licences(study: Study) -> str:
    """Return the paper that lists licences and terms, in Markdown."""
    return "\n".join(
        ["# Licences and terms", "", *_passages(study), *_texts(study), *_providers(study)]
    )


def _passages(study: Study) -> list[str]:
    if not study.file.sources:
        return []
    listed = list(_listed(study))
    counts = Counter((name, page.licence) for name, page in listed)
    rows = [f"| {name} | {licence} | {n} |" for (name, licence), n in sorted(counts.items())]
    lines = [
        f"- {page.title or '(no title)'}, {page.url or 'no address'}, {page.licence}"
        for page in sorted({page for _, page in listed})
    ]
    return [
        "## Passages",
        "",
        "What the sources answered; each is its authors', under its own licence.",
        "",
        "| source | licence | passages |",
        "|---|---|---|",
        *rows,
        "",
        *lines,
        "",
    ]


def _listed(study: Study) -> Iterator[tuple[str, Page]]:
    """Yield every text of every source, with the source's name."""
    for cell in study.cells():
        for interaction in with_endpoints(study, cell):
            name = interaction.response.endpoint
            if source := study.file.sources.get(name):
                yield from ((name, page) for page in pages(source.kind, interaction))


def _texts(study: Study) -> list[str]:
    concepts = frozen(study).materials.concepts
    if not concepts:
        return []
    is_own = study.file.plan.has_own_texts
    whose = "the study's own; their authors state the licence" if is_own else "harness's, MIT"
    return [
        "## Reference texts",
        "",
        f"They stand in materials.json and are {whose}. Facts in them can be looked up:",
        "",
        *(f"- {concept.name}: {concept.source or 'no source named'}" for concept in concepts),
        "",
    ]


def _providers(study: Study) -> list[str]:
    rows = [
        f"| {name} | {model.model} | {host} | {_terms(model.provider, host)} |"
        for name, model in study.file.models.items()
        for host in [host_of(model.base_url)]
    ]
    return [
        "## Whose terms govern the models' answers",
        "",
        f"As they were when the study was recorded ({study.file.as_of.isoformat()}).",
        "",
        "| model | asked for as | at | terms of |",
        "|---|---|---|---|",
        *rows,
        "",
    ]


def _terms(provider: str, host: str) -> str:
    if is_local(host):
        return "nobody's service: the licence of the model's weights"
    return provider_of(provider).terms_of(host) or f"whoever runs {host}"
