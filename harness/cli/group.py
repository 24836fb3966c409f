"""What all commands share: the group, the way errors are told, common options."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from harness.errors import HarnessError, RunStopped
from harness.version import VERSION

if TYPE_CHECKING:
    from harness.api import OpenStudy

EXIT_CODES = """Exit codes: 0 all good; 1 a check failed (checksum, miss, unused call, numbers,
invalid study); 2 usage or study file; 3 incomplete, go on later; 130 interrupted after saving."""
ROOT = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that holds cassettes/ (default: the nearest one upwards).",
)

VERIFY = click.option(
    "--verify-checksums/--no-verify-checksums",
    "verify",
    default=True,
    help="Compare files with the manifest and numbers with results.json first (the default).",
)


def _agree(context: click.Context, option: click.Parameter, word: str | None) -> None:
    """Let replays of this process, and of those that it starts, run a study's program."""
    del context, option
    if word is not None:
        os.environ["HARNESS_RUN_PROGRAM"] = word


def run_program_option(name: str, word: str, help_text: str) -> Callable[..., Any]:
    """Return an option with which a user agrees to run a study's program."""
    return click.option(
        name,
        flag_value=word,
        default=None,
        expose_value=False,
        callback=_agree,
        help=help_text,
    )


RUN_PROGRAM = run_program_option(
    "--run-program", "isolated", "Run the program of a study that was not recorded here."
)
RUN_UNISOLATED = run_program_option(
    "--run-program-unisolated",
    "unisolated",
    "The same, also where this system gives it no network of its own.",
)


class OutFile(click.Path):
    """A file to write: its folder is there, and is no study's, where a manifest covers all.

    dir_okay: whether it may be a folder that is there.
    """

    def __init__(self, dir_okay: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=dir_okay)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, or fail before any work is done."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"{path}: there is no folder {path.parent}; make it first.", param, ctx)
        if (path.parent / "study.toml").exists():
            reason = "a file more in a study's folder fails its checksums; write it elsewhere"
            self.fail(f"{path}: {reason}.", param, ctx)
        return path


def told(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what goes wrong into a message and an exit code; no traceback for a user's mistake."""

    @wraps(command)
    def run(*args: object, **kwargs: object) -> None:
        try:
            command(*args, **kwargs)
        except (HarnessError, RunStopped) as error:
            fail(str(error), error.exit_code)
        except MemoryError:
            fail("the memory that this process may use is full; nothing was changed by that.", 1)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(1)

    return run


def open_studies(names: Sequence[str], root: Path | None) -> list[OpenStudy]:
    """Open the studies that are named; without a name all but those still being recorded."""
    from harness.errors import UsageError
    from harness.study.folder import all_studies

    if names:
        return [open_study(name, root) for name in names]
    studies = all_studies(root)
    for study in studies:
        if not study.is_published:
            click.echo(f"{study.name}: is being recorded, left out; name it to see it", err=True)
    published = [open_study(str(study.folder), root) for study in studies if study.is_published]
    if not published:
        raise UsageError("no study is recorded to its end yet (`harness ls`)")
    return published


def open_study(name: str, root: Path | None) -> OpenStudy:
    """Open a study by its name, folder or bundle, until the command ends."""
    from harness import api

    return click.get_current_context().with_resource(api.open_study(name, root=root))


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
