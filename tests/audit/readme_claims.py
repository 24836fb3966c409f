"""The claims file of the README's table of the bundled study, made from the README.

Run this file after the table has changed: python tests/audit/readme_claims.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
STUDY = "ddft-local"
FILE = ROOT / "harness" / "audit" / "data" / f"{STUDY}.toml"
HEAD = f'''# What the README prints of the bundled study. Made by tests/audit/readme_claims.py.
title = "The README's table of the bundled study"
source = "README.md"
study = "{STUDY}"
'''
METRICS = {
    "HOC": "hoc",
    "CRI": "cri",
    "FAR'": "far_prime",
    "SAS'": "sas_prime",
    "CI (raw)": "ci_raw",
    "danger zone": "danger_zone",
}


def claims_text(readme: str) -> str:
    """Give the whole claims file."""
    return "\n".join([HEAD, *_table(readme), *_sentences(re.sub(r"\s+", " ", readme))])


def _table(readme: str) -> Iterator[str]:
    header, _, *rows = _lines(readme)
    levels = re.findall(r"[\d.]+", header[1])
    for subject, far, *cells in rows:
        for level, value in zip(levels, far.split(", "), strict=True):
            at = f'"levels", {{ level = {float(level)} }}, "far"'
            yield _of_subject(subject, f"FAR at c = {float(level):g}", value, at)
        for name, cell in zip(header[2:], cells, strict=True):
            yield _of_subject(subject, name, cell, f'"{METRICS[name]}"')


def _lines(readme: str) -> list[list[str]]:
    [table] = re.findall(r"(?:^\|.*\n)+", readme[readme.index("| subject |") :], re.M)[:1]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def _of_subject(subject: str, name: str, cell: str, at: str) -> str:
    where = f'"subjects", {{ subject = "{subject}", arm = "paper" }}, {at}'
    return _claim(f"{subject} {name}", f"{name} of {subject}", cell, where)


def _sentences(readme: str) -> Iterator[str]:
    [counts] = re.findall(r"(\d+) dialogues, (\d+) judgements, (\d+) missing", readme)
    yield _claim("dialogues", "dialogues", counts[0], '"cells"')
    yield _claim("judgements", "judgements", counts[1], '"missing", "judgements"')
    yield _claim("missing", "judgements missing", counts[2], '"missing", "missing"')
    [(n, *alphas)] = re.findall(
        r"n = (\d+) answers\) is (-?[\d.]+) for FAR and (-?[\d.]+) for SAS", readme
    )
    for scale, alpha in zip(("far", "sas"), alphas, strict=True):
        at = f'"analysis", "jury", "scales", {{ scale = "{scale}" }}, "agreement", "alpha"'
        name = f"alpha {scale}"
        yield _claim(name, f"alpha of the judges' {scale.upper()}", f"{alpha} (n={n})", at)


def _claim(name: str, says: str, cell: str, at: str) -> str:
    published, n = re.findall(r"^(null|-?[\d.]+)(?:.*\(n=(\d+)\))?", cell)[0]
    key = re.sub(r"[^a-z0-9.]+", "-", name.lower().replace("'", " prime")).strip("-")
    lines = [f'[claim."{key}"]', 'place = "The bundled study"', f'says = "{says}"']
    lines += ['check = "value"', f'published = "{published}"', f"at = [{at}]"]
    return "\n".join([*lines, *([f"n = {n}"] if n else []), ""])


if __name__ == "__main__":
    FILE.write_text(claims_text((ROOT / "README.md").read_text("utf-8")), "utf-8")
