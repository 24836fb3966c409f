"""What may be handed on of a recording: the licences of what sources gave, and whose terms count.

A licence is what the answer says beside a passage; of Wikipedia, which says it on its pages and not
in its answers, it is the licence of its texts. Anything else is unknown, and unknown is not open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from harness.asking.sources import wikipedia
from harness.recording.interaction import Interaction
from harness.run.endpoints import with_endpoints
from harness.run.wiring import frozen
from harness.study.folder import Study
from harness.study.hosts import TERMS, host_of, is_local

UNKNOWN = "unknown"
OPEN = re.compile(
    r"(?i)(?!.*\bn[cd]\b)"  # neither "non-commercial" nor "no derivatives"
    r"(cc0|cc[ -]by|public domain|pddl|odc-by|odbl|gfdl|open government|mit\b|apache)"
)
TEXTS = ("extract", "content", "snippet", "description")


class Page(NamedTuple):
    """Something a source gave: its title, where it stands, and its licence or "unknown"."""

    title: str
    url: str
    licence: str

    @property
    def is_open(self) -> bool:
        """Tell whether it may be handed on by everybody."""
        return OPEN.match(self.licence) is not None


def pages(kind: str, kept: Interaction) -> list[Page]:
    """Give what a look-up's answer holds of other people's texts; nothing for one without."""
    body = kept.body_bytes
    if (kept.response.call or "").rpartition("/")[2].startswith("robots"):
        return []  # what a host allows is nobody's text
    if not body.strip() or kept.response.status.code >= 300:
        return []
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return [Page("", kept.request.uri, UNKNOWN)]
    default = wikipedia.LICENCE if kind.startswith("wikipedia") else UNKNOWN
    lists = _lists(found)
    items = [found, *(item for items in lists for item in items)]
    texts = [item for item in items if isinstance(item, dict) and _has_text(item)]
    if not texts and not lists:  # of a form that nobody here knows: it may hold anything
        return [Page("", kept.request.uri, default)]
    return [_page(item, default) for item in texts]


def _lists(found: Any) -> list[list[Any]]:
    """Return the lists of pages, hits and results of an answer."""
    query, web = _at(found, "query"), _at(found, "web")
    listed = (_at(query, "pages"), _at(query, "search"), _at(found, "results"), _at(web, "results"))
    return [items for items in listed if isinstance(items, list)]


def _has_text(item: dict[str, Any]) -> bool:
    return any(_text(item, name) for name in TEXTS)


def _at(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: Any, name: str) -> str:
    found = _at(value, name)
    return found if isinstance(found, str) else ""


def _page(item: dict[str, Any], default: str) -> Page:
    desktop = _at(_at(item, "content_urls"), "desktop")
    url = _text(item, "fullurl") or _text(item, "url") or _text(desktop, "page")
    return Page(_text(item, "title"), url, _text(_at(item, "license"), "title") or default)


def licences(study: Study) -> str:
    """Give the paper that lists licences and terms, in Markdown."""
    return "\n".join(
        ["# Licences and terms", "", *_passages(study), *_texts(study), *_providers(study)]
    )


def _passages(study: Study) -> list[str]:
    if not study.file.sources:
        return []
    given = list(_given(study))
    counts = Counter((name, page.licence) for name, page in given)
    rows = [f"| {name} | {licence} | {n} |" for (name, licence), n in sorted(counts.items())]
    listed = [
        f"- {page.title or '(no title)'}, {page.url or 'no address'}, {page.licence}"
        for page in sorted({page for _, page in given})
    ]
    return [
        "## Passages",
        "",
        "What the sources gave; each is its authors', under its own licence.",
        "",
        "| source | licence | passages |",
        "|---|---|---|",
        *rows,
        "",
        *listed,
        "",
    ]


def _given(study: Study) -> Iterator[tuple[str, Page]]:
    """Give all that every source gave."""
    for cell in study.cells():
        for kept in with_endpoints(study, cell):
            name = kept.response.endpoint
            if source := study.file.sources.get(name):
                yield from ((name, page) for page in pages(source.kind, kept))


def _texts(study: Study) -> list[str]:
    concepts = frozen(study).materials.concepts
    if not concepts:
        return []
    brought = study.file.ddft is not None and study.file.ddft.concept_file is not None
    whose = "the study's own; their authors state the licence" if brought else "harness's, MIT"
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
        f"| {name} | {model.model} | {host} | {_terms(host)} |"
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


def _terms(host: str) -> str:
    if is_local(host):
        return "nobody's service: the licence of the model's weights"
    known = (name for end, name in TERMS.items() if host == end or host.endswith(f".{end}"))
    return next(known, f"whoever runs {host}")
