"""The plain page of a study, whose protocol has none of its own: every text of every cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.page.browser import Block, Browser, BrowserEntry, EntryStep, facet
from harness.page.page import ProtocolPage
from harness.page.replayed_study import AnyStudy

WordsOf = Callable[[Any], Mapping[str, str]]  # of a transcript, by the names of the calls


def plain_page(protocol: str, words_of: WordsOf, replayed: AnyStudy) -> ProtocolPage:
    """Return the page of a study by a protocol of this name."""
    entries = [_entry(words_of, replayed, transcript) for transcript in replayed.transcripts]
    cells = facet("cell", (entry.cell for entry in entries))
    browser = Browser(replayed.name, "cells", "cells", [cells], (), entries)
    return ProtocolPage(browser, protocol)


def _entry(words_of: WordsOf, replayed: AnyStudy, transcript: Any) -> BrowserEntry:
    name = transcript.cell.name
    recorded = replayed.recorded[name]
    blocks = [Block("answer", call, text) for call, text in words_of(transcript).items()]
    texts = EntryStep(name, "", "", {}, {}, blocks, recorded.calls)
    return BrowserEntry([name], name, recorded.path, {"cell": name}, [], [texts], anchor=name)
