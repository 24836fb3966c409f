"""The commands, a few lines each: arguments in, words and an exit code out."""

from harness.cli import analyze, calibrate, look, record, replay
from harness.cli.group import main

__all__ = ["analyze", "calibrate", "look", "main", "record", "replay"]
