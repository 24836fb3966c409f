"""What a study's protocol brings to its page; of a protocol that brings nothing, the plain page."""

from __future__ import annotations

from typing import Any

from harness.page.browser import Block, Browser, BrowserEntry, EntryStep, facet
from harness.page.page import ProtocolPage
from harness.page.replayed_study import AnyStudy
from harness.protocols.registry import protocol_of
from harness.protocols.seam import StudyProtocol
from harness.study.folder import Study


def page_of(study: Study, replayed: AnyStudy) -> ProtocolPage:
    """Return what a protocol brings: by its function `page`, or every text of every cell."""
    protocol = protocol_of(study)
    if hasattr(protocol, "page"):
        return protocol.page(study, replayed)
    return plain_page(study, replayed)


def plain_page(study: Study, replayed: AnyStudy) -> ProtocolPage:
    """Return a page with every text of every cell, and no more than that."""
    return ProtocolPage(_browser(protocol_of(study), replayed), study.file.protocol)


def _browser(protocol: StudyProtocol, replayed: AnyStudy) -> Browser:
    entries = [_entry(protocol, replayed, transcript) for transcript in replayed.transcripts]
    cells = facet("cell", (entry.cell for entry in entries))
    return Browser(replayed.name, "cells", "cells", [cells], (), entries)


def _entry(protocol: StudyProtocol, replayed: AnyStudy, transcript: Any) -> BrowserEntry:
    name = transcript.cell.name
    recorded = replayed.recorded[name]
    blocks = [Block("answer", call, text) for call, text in protocol.words(transcript).items()]
    texts = EntryStep(name, "", "", {}, {}, blocks, recorded.calls)
    return BrowserEntry([name], name, recorded.path, {"cell": name}, [], [texts], anchor=name)
