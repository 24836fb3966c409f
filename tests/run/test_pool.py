"""The API at any size, from wherever Python is asked: no process runs the caller's script again."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.run import pool
from harness.run.replay import replay_cells
from harness.study.folder import Study

ROOT = Path(__file__).parent.parent.parent
FOLDER = str(ROOT / "cassettes" / "ddft-local")
SCRIPT = f"""
print("began")
import harness
verdict = harness.replay({FOLDER!r}, workers=3)
print("cells", verdict.cells, "ok", verdict.ok)
"""
THREAD = f"""
import threading, harness
def work():
    print("cells", harness.replay({FOLDER!r}, workers=3).cells)
thread = threading.Thread(target=work); thread.start(); thread.join()
"""


def python(*words: str, stdin: str = "", cwd: Path | None = None) -> str:
    """Run Python and return what it printed."""
    done = subprocess.run(
        [sys.executable, *words], input=stdin, capture_output=True, text=True, check=True, cwd=cwd
    )
    assert done.stderr == ""
    return done.stdout


def test_a_plain_script_without_a_main_guard_is_run_once(tmp_path: Path) -> None:
    """As the paper prints it: no `if __name__`, several processes, and one "began"."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    assert python(str(path)) == "began\ncells 30 ok True\n"


def test_a_program_on_standard_input_has_no_file_to_run_again() -> None:
    """As in a REPL or a notebook, where __main__ has no file."""
    assert python("-", stdin=SCRIPT) == "began\ncells 30 ok True\n"


def test_a_thread_may_replay() -> None:
    """A notebook's widgets and web servers ask from threads."""
    assert python("-c", THREAD) == "cells 30\n"


def test_a_file_beside_the_caller_is_not_taken_for_the_standard_library(tmp_path: Path) -> None:
    """A `statistics.py` or `json.py` in the folder one works in is not imported by the workers."""
    (tmp_path / "json.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "statistics.py").write_text("raise SystemExit('imported')\n")
    program = "import sys; sys.path.remove('') if '' in sys.path else None\n" + SCRIPT
    assert "cells 30 ok True" in python("-P", "-c", program, cwd=tmp_path)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_any_number_of_processes_gives_the_same(workers: int) -> None:
    """Cells come back in the grid's order with the same numbers and transcripts."""
    study = Study(Path(FOLDER))
    replays = replay_cells(study, workers)
    assert [replay.cell for replay in replays] == list(study.cells())
    assert [replay.transcript_sum for replay in replays] == [
        replay.transcript_sum for replay in replay_cells(study, 1)
    ]


def test_what_a_child_leaves_behind_is_done_here() -> None:
    """A child that cannot import its work dies, and no batch is lost."""
    with pool.opened(("no_such_module", "work"), None, 2) as children:
        assert children.run([1, 2, 3, 4], lambda batch: batch * 10) == [10, 20, 30, 40]


def test_damage_met_in_a_child_is_the_same_verdict(tmp_path: Path) -> None:
    """A damaged cassette is a problem of its cell, whichever process reads it."""
    shutil.copytree(ROOT / "cassettes" / "ddft-local", tmp_path / "cassettes" / "mine")
    study = Study(tmp_path / "cassettes" / "mine")
    for cell in (study.cells()[0], study.cells()[-1]):
        study.cassette(cell).write_bytes(b"")
    problems = [replay.problem for replay in replay_cells(study, 3)]
    assert "the file is empty" in problems[0]
    assert "the file is empty" in problems[-1]
    assert not any(problems[1:-1])
