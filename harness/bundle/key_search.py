"""Look for keys in what is about to be handed out: those in use, and whatever looks like one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from harness.bundle.archive import files_in
from harness.recording import cassette as cassettes
from harness.recording.interaction import Interaction
from harness.recording.redaction import KeyRing, clean_header, secrets_in

SHOWN = 6  # characters of what looks like a key, enough to find it
LIKE_A_KEY = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"sk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}"  # of many providers of models
    r"|AIza[A-Za-z0-9_-]{35}"  # Google
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"  # Amazon
    r"|gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{22,}"
    r"|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{37}|xai-[A-Za-z0-9]{40,}"
    r"|tvly-[A-Za-z0-9-]{16,}|xox[abposr]-[A-Za-z0-9-]{10,}"
    r"|(?i:Bearer) (?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{20,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----)"
)
ESCAPED = re.compile(r'\\+(?:u([0-9A-Fa-f]{4})|([nrtbf/"]))|%([0-9A-Fa-f]{2})')


class Finding(NamedTuple):
    """Where a key, or what looks like one, stands: file, call or "", and how it begins."""

    path: str
    call: str
    shown: str

    @property
    def line(self) -> str:
        """Return the finding in one line, without the key."""
        at = f", call {self.call}" if self.call else ""
        return f"{self.path}{at}: {self.shown}"


def find_keys(
    folder: Path, ring: KeyRing, cassette_names: Collection[str], no_keys: Collection[str] = ()
) -> Iterator[Finding]:
    """Yield what must not be handed out in a folder's files, file by file.

    ring: the keys in use. cassette_names: the files that are searched call by call, with what is
    encoded in them read. no_keys: texts that look like keys and are none.
    """
    for name in files_in(folder):
        is_cassette = name in cassette_names
        data = cassettes.content(folder / name) if is_cassette else (folder / name).read_bytes()
        if ring.found_in(data):
            yield Finding(name, "", "a key that is in use")
        if is_cassette:
            for label, interaction in cassettes.load(folder / name).labelled():
                yield from (
                    Finding(name, label, words) for words in _in_call(interaction, ring, no_keys)
                )
        else:
            text = data.decode("utf-8", "replace")
            yield from (Finding(name, "", words) for words in _like_keys("", text, no_keys))


def _in_call(interaction: Interaction, ring: KeyRing, no_keys: Collection[str]) -> Iterator[str]:
    for name, value in interaction.header_pairs:
        if clean_header(name, value) != value:
            yield f"the header {name}"
    for body in (interaction.request_bytes, interaction.body_bytes):
        if ring.found_in(body):
            yield "a key that is in use"
        yield from _like_keys(interaction.request.uri, body.decode("utf-8", "replace"), no_keys)


def _like_keys(url: str, text: str, no_keys: Collection[str]) -> Iterator[str]:
    matches: set[str] = set()
    searched = f"{url}\n{text}"
    for form in (searched, ESCAPED.sub(_character, searched)):
        matches.update(match[0] for match in LIKE_A_KEY.finditer(form))
        matches.update(secrets_in(url, form))
    for value in sorted(matches.difference(no_keys)):
        yield f"{value[:SHOWN]}..., which looks like a key"


def _character(escaped: re.Match[str]) -> str:
    """Return what JSON, JSON within JSON, or a form wrote as an escape; white space as a blank."""
    point, letter, percent = escaped.groups()
    if letter:
        return letter if letter in '/"' else " "
    character = chr(int(point or percent, 16))
    return " " if character.isspace() else character
