"""Packing from the command line, and what is packed."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result
from loopback import Answer, Received, json_answer

from harness.bundle.unpacking import unpack
from harness.cli import main

CLOSED = "CC BY-NC 4.0"


def harness(*words: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, [str(word) for word in words])


def done(*words: object) -> str:
    """Run a command that must succeed, and give what it said."""
    result = harness(*words)
    assert result.exit_code == 0, result.output
    return result.output


def unpacked(bundle: Path) -> Path:
    (into := bundle.parent / f"{bundle.name}-out").mkdir()
    return unpack(bundle, into)


def licensed(received: Received, answer: Answer) -> Answer:
    """Give every third page of the world a licence that is not open."""
    if received.method == "POST" or answer.status != 200:
        return answer
    page = json.loads(answer.body)
    if "extract" in page and len(page["title"]) % 3 == 0:
        page["license"] = {"title": CLOSED}
    return json_answer(page)
