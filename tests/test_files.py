"""Files that survive: written whole or not at all, refused in words, told apart, locked."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from study_folder import PACKAGE, unwritable

from harness import files
from harness.errors import Incomplete, NoRoom, UsageError

# --- whole files ---


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """The new content is there, and nothing else is left in the folder."""
    path = tmp_path / "a.json"
    files.write_atomic(path, b"old")
    files.write_atomic(path, b"new" * 100_000)
    assert path.read_bytes() == b"new" * 100_000
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_reader_never_sees_a_part(tmp_path: Path) -> None:
    """While a file is written again and again, every reading finds one whole version."""
    path = tmp_path / "a"
    sizes = {100_000, 300_000}
    program = (
        "import sys; from pathlib import Path; from harness.files import write_atomic\n"
        "for n in range(60): write_atomic(Path(sys.argv[1]), b'x' * (100_000 + n % 2 * 200_000))"
    )
    files.write_atomic(path, b"x" * 100_000)
    writer = subprocess.Popen([sys.executable, "-c", program, str(path)], cwd=PACKAGE)
    seen = set()
    while writer.poll() is None:
        seen.add(len(path.read_bytes()))
    assert writer.returncode == 0
    assert seen <= sizes


def test_an_interrupt_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C before the rename: the old content, and no half-written file beside it."""
    path = tmp_path / "a"
    files.write_atomic(path, b"old")

    def interrupted(*paths: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_what_a_dead_process_left_is_swept(tmp_path: Path) -> None:
    """Half-written files of processes that are no more go; those of others and of other names
    stay.
    """
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    path = tmp_path / "a[1].json"
    kept = [f".{path.name}.1.tmp", ".b.json.999999999.tmp", f".{path.name}.word.tmp"]
    for name in (f".{path.name}.{dead.pid}.tmp", *kept):
        (tmp_path / name).write_text("half")
    files.write_atomic(path, b"whole")
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, *kept])


def test_a_folder_that_refuses(tmp_path: Path) -> None:
    """The error names the file and what to do, and is a usage error."""
    folder = tmp_path / "locked"
    folder.mkdir()
    with unwritable(folder), pytest.raises(UsageError, match=r"new\.json: cannot be written"):
        files.write_atomic(folder / "new.json", b"{}")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_no_mistake_of_the_user(code: int) -> None:
    """No room, over quota, too large: exit code 3, and the way on."""
    refusal = files.refused(Path("x"), OSError(code, os.strerror(code)))
    assert isinstance(refusal, NoRoom)
    assert refusal.exit_code == 3
    assert "goes on" in str(refusal)


def test_room_is_looked_for_before_a_call(tmp_path: Path) -> None:
    """More room than there can be is refused, with both numbers; some room is not."""
    files.check_room(tmp_path, 1)
    with pytest.raises(NoRoom, match=r"only \d+ MB free, 1099511627776 MB are needed"):
        files.check_room(tmp_path, 2**60)


def test_moving_aside_never_overwrites(tmp_path: Path) -> None:
    """Three files of one name, moved aside within a second, are three files."""
    path = tmp_path / "a.json"
    moved = []
    for content in ("1", "2", "3"):
        path.write_text(content)
        moved.append(files.move_aside(path))
    assert [aside.read_text() for aside in moved] == ["1", "2", "3"]
    assert not path.exists()


# --- names ---


@pytest.mark.parametrize(
    "label",
    ["../../etc/passwd", "a/b", "a?b", "a b", "..", ".", "", "x" * 300, "ä", "\ud800", "con\0"],
)
def test_any_label_gives_a_name_in_the_folder(label: str) -> None:
    """No separator, no leading dot, no more than 130 characters, the same on every system."""
    name = files.file_name(label)
    assert name.isascii()
    assert not set(name) & set('/\\?*:|"<> \0')
    assert not name.startswith(".")
    assert 0 < len(name) <= 130


def test_labels_that_differ_give_names_that_differ() -> None:
    """Case, punctuation, length and a name that looks like a marked one: nobody's name twice."""
    labels = ["a", "A", "a/b", "a?b", "a_b", "a b", "A/B", "x" * 300, "x" * 301, "x" * 120, "a."]
    labels += [files.file_name(label) for label in labels if files.file_name(label) != label]
    names = [files.file_name(label).lower() for label in labels]
    assert len(set(names)) == len(labels)


def test_plain_names_stay() -> None:
    """A cell's name can be read in its file's name."""
    name = "gpt-4.1--harm-principle--c0.25--paper--r1"
    assert files.file_name(name) == name


# --- locks ---


def test_a_lock_says_who_holds_it(tmp_path: Path) -> None:
    """The second asker is told the process; after the release the next gets in."""
    path = tmp_path / "a.lock"
    lock = files.Lock(path)
    with pytest.raises(Incomplete, match=f"process {os.getpid()} on "):
        files.Lock(path)
    lock.release()
    files.Lock(path).release()


@pytest.mark.parametrize("owner", ["", "[]", '{"pid": 1}', "\x00"])
def test_a_torn_note_of_the_owner_is_no_obstacle(owner: str, tmp_path: Path) -> None:
    """Who holds the lock may have died while it wrote its name."""
    lock = files.Lock(tmp_path / "a.lock")
    (tmp_path / "a.lock.owner").write_text(owner)
    with pytest.raises(Incomplete, match="another process is recording"):
        files.Lock(tmp_path / "a.lock")
    lock.release()


def test_a_lock_that_cannot_be_noted_is_given_back(tmp_path: Path) -> None:
    """Where the owner's name cannot be written, the error says so and nobody is locked out."""
    (tmp_path / "a.lock.owner").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        files.Lock(tmp_path / "a.lock")
    (tmp_path / "a.lock.owner").rmdir()
    files.Lock(tmp_path / "a.lock").release()
