"""The commands, a few lines each: arguments in, words and an exit code out."""

from harness.cli import (
    analyze,
    audit,
    calibrate,
    corpus,
    diff,
    export,
    jury,
    look,
    pack,
    record,
    replay,
    report,
    score,
    serve,
)
from harness.cli.group import main

__all__ = [
    "analyze",
    "audit",
    "calibrate",
    "corpus",
    "diff",
    "export",
    "jury",
    "look",
    "main",
    "pack",
    "record",
    "replay",
    "report",
    "score",
    "serve",
]
