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
        kept = {"script": self.scripts, "style": self.styles}.get(self.lasttag)
        if kept is not None and self.cdata_elem is not None:
            kept.append(data)
        else:
            self.text += data

    def named(self, *names: str) -> list[Element]:
        """Give the elements of these names."""
        return [element for element in self.elements if element.name in names]

    @property
    def browsers(self) -> list[dict[str, Any]]:
        """Give the data of every transcript browser."""
        return [json.loads(text) for text in self.scripts if text.startswith("{")]

    @property
    def script(self) -> str:
        """Give the one script that runs."""
        (found,) = [text for text in self.scripts if not text.startswith("{")]
        return found

    @property
    def words(self) -> str:
        """Give the text with single spaces."""
        return re.sub(r"\s+", " ", self.text)


def texts(browser: dict[str, Any]) -> list[str]:
    """Give every text of every block of a browser."""
    found = []
    for item in browser["items"]:
        for blocks in (item["blocks"], *(part["blocks"] for part in item["parts"])):
            found += [text for _, _, text in blocks]
    return found
