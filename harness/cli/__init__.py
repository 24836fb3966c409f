"""The commands, a few lines each: arguments in, words and an exit code out."""

from harness.cli import look, record, replay
from harness.cli.group import main

__all__ = ["look", "main", "record", "replay"]
