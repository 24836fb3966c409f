"""The claims files of the README's tables of the bundled studies, made from the README.

Run this file after a table has changed: python tests/audit/readme_claims.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "harness" / "audit" / "data"
HEAD = """# What the README prints of a bundled study. Made by tests/audit/readme_claims.py.
title = "The README's table of the bundled study {study}"
source = "README.md"
study = "{study}"
rounding = "to the nearest"
"""
METRICS = {
    "HOC": "hoc",
    "CRI": "cri",
    "FAR'": "far_prime",
    "SAS'": "sas_prime",
    "CI (raw)": "ci_raw",
    "danger zone": "danger_zone",
}


def claims_files(readme: str) -> dict[Path, str]:
    """Give every claims file, whole, by where it belongs."""
    text = re.sub(r"\s+", " ", readme)
    claims = {
        "ddft-local": [*_dialogues(readme), *_sentences(text)],
        "depthcharge-local": [*_drills(readme)],
    }
    return {
        DATA / f"{study}.toml": "\n".join([HEAD.format(study=study), *found])
        for study, found in claims.items()
    }


def _dialogues(readme: str) -> Iterator[str]:
    header, _, *rows = _lines(readme, "| subject |")
    levels = re.findall(r"[\d.]+", header[1])
    for subject, far, *cells in rows:
        for level, value in zip(levels, far.split(", "), strict=True):
            at = f'"levels", {{ level = {float(level)} }}, "far"'
            yield _of_subject(subject, f"FAR at c = {float(level):g}", value, at)
        for name, cell in zip(header[2:], cells, strict=True):
            yield _of_subject(subject, name, cell, f'"{METRICS[name]}"')


def _drills(readme: str) -> Iterator[str]:
    _, _, *rows = _lines(readme, "| target |")
    for target, domain, asked, accuracy, evd, interval, _ in rows:
        run = f"{target} in {domain}"
        where = f'"runs", {{ cell = {{ target = "{target}", domain = "{domain}" }} }}'
        for name, key, cells in (("questions", "asked", asked), ("A", "accuracy", accuracy)):
            for depth, cell in enumerate(cells.split(", "), 1):
                at = f'{where}, "depths", {{ depth = {depth} }}, "{key}"'
                says = f"{name} at depth {depth} of {run}"
                yield _claim(f"{run} {name} at depth {depth}", says, cell, at)
        yield _claim(f"{run} EVD", f"EVD of {run}", evd, f'{where}, "evd", "value"')
        for end, cell in zip(("low", "high"), interval.split(" to "), strict=True):
            at = f'{where}, "evd", "clustered", "{end}"'
            yield _claim(f"{run} EVD {end}", f"{end} end of the interval of {run}", cell, at)


def _lines(readme: str, header: str) -> list[list[str]]:
    [table] = re.findall(r"(?:^\|.*\n)+", readme[readme.index(header) :], re.M)[:1]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def _of_subject(subject: str, name: str, cell: str, at: str) -> str:
    where = f'"subjects", {{ subject = "{subject}", arm = "paper" }}, {at}'
    return _claim(f"{subject} {name}", f"{name} of {subject}", cell, where)


def _sentences(text: str) -> Iterator[str]:
    [counts] = re.findall(r"(\d+) dialogues, (\d+) judgements, (\d+) missing", text)
    yield _claim("dialogues", "dialogues", counts[0], '"cells"')
    yield _claim("judgements", "judgements", counts[1], '"missing", "judgements"')
    yield _claim("missing", "judgements missing", counts[2], '"missing", "missing"')
    [(n, *alphas)] = re.findall(
        r"n = (\d+) answers\) is (-?[\d.]+) for FAR and (-?[\d.]+) for SAS", text
    )
    for scale, alpha in zip(("far", "sas"), alphas, strict=True):
        at = f'"analysis", "jury", "scales", {{ scale = "{scale}" }}, "agreement", "alpha"'
        name = f"alpha {scale}"
        yield _claim(name, f"alpha of the judges' {scale.upper()}", f"{alpha} (n={n})", at)


def _claim(name: str, says: str, cell: str, at: str) -> str:
    published, n = re.findall(r"^(null|-?[\d.]+)(?:.*\(n=(\d+)\))?", cell)[0]
    key = re.sub(r"[^a-z0-9.]+", "-", name.lower().replace("'", " prime")).strip("-")
    lines = [f'[claim."{key}"]', 'place = "The bundled studies"', f'says = "{says}"']
    lines += ['check = "value"', f'published = "{published}"', f"at = [{at}]"]
    return "\n".join([*lines, *([f"n = {n}"] if n else []), ""])


if __name__ == "__main__":
    for path, content in claims_files((ROOT / "README.md").read_text("utf-8")).items():
        path.write_text(content, "utf-8")
