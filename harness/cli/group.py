"""What all commands share: the group, the way errors are told, common options."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click

from harness.errors import HarnessError, RunStopped
from harness.version import VERSION

EXIT_CODES = """Exit codes: 0 all good; 1 a check failed (checksum, miss, unused call, numbers,
invalid study); 2 usage or study file; 3 incomplete, go on later; 130 interrupted after saving."""
ROOT = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that holds cassettes/ (default: the nearest one upwards).",
)


def told(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what goes wrong into a message and an exit code; no traceback for a user's mistake."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (HarnessError, RunStopped) as error:
            fail(str(error), error.exit_code)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(1)

    return run


def fail(message: str, code: int) -> NoReturn:
    """Say what is wrong and end with an exit code."""
    click.echo(f"harness: {message}", err=True)
    sys.exit(code)


@click.group(epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="harness")
def main() -> None:
    """Record evaluations of language models once; replay and recompute them for ever.

    Start with: harness replay --verify-checksums
    """
