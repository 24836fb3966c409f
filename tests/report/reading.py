"""A page as a browser takes it apart: its elements, and the data of its transcript browsers."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any, NamedTuple


class Element(NamedTuple):
    """An element that was opened: its name and attributes."""

    name: str
    attributes: dict[str, str]


class Page(HTMLParser):
    """The elements, the texts outside scripts and styles, and what those hold."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.text = ""
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.feed(data.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        holder = {"script": self.scripts, "style": self.styles}.get(self.lasttag)
        if holder is not None and self.cdata_elem is not None:
            holder.append(data)
        else:
            self.text += data

    def named(self, *names: str) -> list[Element]:
        """Return the elements of these names."""
        return [element for element in self.elements if element.name in names]

    @property
    def browsers(self) -> list[dict[str, Any]]:
        """Return the data of every transcript browser."""
        return [json.loads(text) for text in self.scripts if text.startswith("{")]

    @property
    def script(self) -> str:
        """Return the one script that runs."""
        (running,) = [text for text in self.scripts if not text.startswith("{")]
        return running

    @property
    def words(self) -> str:
        """Return the text with single spaces."""
        return re.sub(r"\s+", " ", self.text)


def texts(browser: dict[str, Any]) -> list[str]:
    """Return every text of every block of a browser."""
    texts_of_blocks = []
    for entry in browser["entries"]:
        for blocks in (entry["blocks"], *(step["blocks"] for step in entry["steps"])):
            texts_of_blocks += [text for _, _, text in blocks]
    return texts_of_blocks
