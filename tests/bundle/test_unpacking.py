"""Bundles that are not what `harness pack` writes: refused, and nothing lands outside."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import zstandard

from harness.bundle.archive import SEAL, SUMS, packed, seal
from harness.bundle.unpacking import BundleLimits, unpack
from harness.errors import DamagedFile, UsageError

FILES = {"README.md": b"read me\n", "cassettes/small/study.toml": b"title = 'x'\n" * 400}


def folder_of(root: Path) -> Path:
    for name, data in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    seal(root)
    return root


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "a.tar.zst"
    path.write_bytes(packed(folder_of(tmp_path / "whole"), "small"))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, link: str = "") -> bytes:
    found = tarfile.TarInfo(name)
    found.type, found.size, found.linkname = kind, size, link
    return found.tobuf(tarfile.PAX_FORMAT) + b"x" * size + b"\0" * (-size % 512)


def crafted(path: Path, members: Sequence[bytes]) -> Path:
    """Write an archive of raw members, compressed as a bundle is."""
    return sealed(path, zstandard.compress(b"".join(members) + b"\0" * 1024))


def sealed(path: Path, frame: bytes) -> Path:
    """Write a compressed frame as if `harness pack` had."""
    path.write_bytes(frame + SEAL + hashlib.sha256(frame).digest())
    return path


def files_outside(root: Path, bundle: Path, into: Path) -> list[Path]:
    return [
        path
        for path in root.rglob("*")
        if path.is_file() and path != bundle and not path.is_relative_to(into)
    ]


def test_what_was_packed_comes_out(bundle: Path, tmp_path: Path) -> None:
    """Every file is there again, byte by byte, under one folder."""
    into = tmp_path / "out"
    into.mkdir()
    top = unpack(bundle, into)
    assert top == into / "small"
    assert {name: (top / name).read_bytes() for name in FILES} == FILES


def test_blanks_do_not_fill_the_disk(tmp_path: Path) -> None:
    """A bundle of a few kilobytes unpacks to 16 MB at most, whatever it holds."""
    path = crafted(tmp_path / "b.tar.zst", [member("small/README.md", size=2**25)])
    assert path.stat().st_size < 100_000
    into = tmp_path / "out"
    into.mkdir()
    with pytest.raises(DamagedFile, match="more than 16777216 bytes"):
        unpack(path, into)
    assert files_outside(tmp_path, path, into) == []
    assert BundleLimits().size_of(2**20) == 100 * 2**20


def test_the_same_files_make_the_same_bundle(tmp_path: Path) -> None:
    """Neither times, modes nor the order of writing change a byte."""
    first, second = folder_of(tmp_path / "a"), tmp_path / "b"
    for name in reversed([*FILES, SUMS]):
        path = second / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((first / name).read_bytes())
        path.chmod(0o600)
    assert packed(first, "small") == packed(second, "small")


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([member("small/../../evil")], "leads out"),
        ([member("../evil")], "leads out"),
        ([member("/etc/evil")], "leads out"),
        ([member("small//evil")], "leads out"),
        ([member("evil")], "leads out"),
        ([member("small/..\\evil")], "has a character"),
        ([member("small/C:evil")], "has a character"),
        ([member("small/evil\x1b[2J")], "has a character"),
        ([member("small/a"), member("other/a")], "lies beside"),
        ([member("small/link", tarfile.SYMTYPE, link="/etc/passwd")], "is a link"),
        ([member("small/link", tarfile.LNKTYPE, link="small/a")], "is a link"),
        ([member("small/device", tarfile.CHRTYPE)], "is a link, a folder, a device"),
        ([member("small/pipe", tarfile.FIFOTYPE)], "is a link, a folder, a device"),
        ([member("small/folder", tarfile.DIRTYPE)], "is a link, a folder"),
        ([member("small/a"), member("small/a")], "stands twice"),
        ([member("small/a"), member("small/A")], "stands twice"),
        ([member("small/a"), member("small/a/b")], "for a file and a folder"),
        ([member("small/a/b"), member("small/a")], "for a file and a folder"),
        ([member("small/" + "a" * 300)], "too long"),
        ([member("small/" + "a/" * 15 + "a")], "lies too deep"),
        ([member("small/" + "a/" * 1200 + "a")], "lies too deep"),
        ([member("small/" + "a/" * 16_000 + "a")], "lies too deep"),
        ([member("small/" + "a" * 1200)], "lies too deep"),
        ([member(f"small/{n}") for n in range(30)], "more than"),
        ([member("small/big", size=60_000)], "more than"),
        ([], "it is empty"),
        ([member("small/README.md", size=8)], f"it has no {SUMS}"),
    ],
)
def test_a_hostile_archive_is_refused(tmp_path: Path, bad: Sequence[bytes], words: str) -> None:
    """It is named for what it is, and no file lies anywhere but in the folder that was given."""
    path, into = crafted(tmp_path / "bad.tar.zst", bad), tmp_path / "out" / "deep"
    into.mkdir(parents=True)
    with pytest.raises(DamagedFile, match="refused") as caught:
        unpack(path, into, BundleLimits(50_000, 20))
    assert words in str(caught.value)
    assert files_outside(tmp_path, path, into) == []


def test_a_link_before_a_file_through_it_is_refused(tmp_path: Path) -> None:
    """The old trick: a link out of the folder, then a file below it."""
    bad = [member("small/d", tarfile.SYMTYPE, link=".."), member("small/d/evil", size=4)]
    into = tmp_path / "out"
    into.mkdir()
    with pytest.raises(DamagedFile, match="is a link"):
        unpack(crafted(tmp_path / "bad.tar.zst", bad), into)
    assert list(into.iterdir()) == []


def test_any_changed_bit_is_refused(bundle: Path, tmp_path: Path) -> None:
    """Of every byte one bit or another: no reading of the file is left that other bytes allow."""
    data = bundle.read_bytes()
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        bundle.write_bytes(changed)
        with pytest.raises(DamagedFile, match="refused"):
            unpack(bundle, tmp_path)
    assert not (tmp_path / "small").exists()


def test_other_programs_read_a_bundle(bundle: Path) -> None:
    """The seal is a frame that zstd passes over: plain zstd and tar find every file."""
    reader = zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(bundle.read_bytes()), read_across_frames=True
    )
    with tarfile.open(fileobj=io.BytesIO(reader.read())) as tar:
        assert tar.getnames() == [
            "small/README.md",
            f"small/{SUMS}",
            "small/cassettes/small/study.toml",
        ]


@pytest.mark.parametrize("size", [0, 1, 10, 100, -1])
def test_a_bundle_that_is_cut_off_is_refused(bundle: Path, tmp_path: Path, size: int) -> None:
    """Empty, a part, or all but the last byte."""
    bundle.write_bytes(bundle.read_bytes()[:size])
    with pytest.raises(DamagedFile, match="refused"):
        unpack(bundle, tmp_path)


def test_what_follows_a_bundle_is_refused(bundle: Path, tmp_path: Path) -> None:
    """Rubbish, or another bundle, behind the end; and a second frame that is sealed with it."""
    whole, frame = bundle.read_bytes(), zstandard.compress(b"x")
    for more in (b"x", b"x" * 5000, whole):
        bundle.write_bytes(whole + more)
        with pytest.raises(DamagedFile, match="refused"):
            unpack(bundle, tmp_path)
    with pytest.raises(DamagedFile, match="something follows its end"):
        unpack(sealed(bundle, frame + frame), tmp_path)


def test_a_file_changed_inside_is_refused(tmp_path: Path) -> None:
    """Packed anew with one other byte, one file more or less: SHA256SUMS says which."""
    whole = folder_of(tmp_path / "whole")
    for name, change in (("README.md", b"read it\n"), ("more.txt", b"x"), ("README.md", None)):
        path = whole / name
        if change is None:
            path.unlink()
        else:
            path.write_bytes(change)
        bundle = tmp_path / "b.tar.zst"
        bundle.write_bytes(packed(whole, "small"))
        (into := tmp_path / f"out-{name}-{change is None}").mkdir()
        with pytest.raises(DamagedFile, match=name.replace(".", r"\.")):
            unpack(bundle, into)
        path.unlink(missing_ok=True)
        (whole / "README.md").write_bytes(FILES["README.md"])


def test_a_bomb_is_refused_before_it_fills_anything(tmp_path: Path) -> None:
    """A gigabyte of nothing in a few kilobytes ends at the limit."""
    compressor, whole = zstandard.ZstdCompressor(), io.BytesIO()
    with compressor.stream_writer(whole, closefd=False) as writer:
        for _ in range(64):
            writer.write(b"\0" * 2**20)
    path = sealed(tmp_path / "bomb.tar.zst", whole.getvalue())
    with pytest.raises(DamagedFile, match="more than 1000000 bytes"):
        unpack(path, tmp_path, BundleLimits(1_000_000, 10))


def test_a_path_of_sixteen_parts_comes_out(tmp_path: Path) -> None:
    """The deepest that is let in; one part more is refused."""
    whole = tmp_path / "whole"
    (whole / "/".join("a" * 14)).mkdir(parents=True)
    (whole / "/".join("a" * 14) / "b").write_text("x")
    seal(whole)
    (path := tmp_path / "x.tar.zst").write_bytes(packed(whole, "small"))
    (into := tmp_path / "out").mkdir()
    assert (unpack(path, into) / "/".join("a" * 14) / "b").read_text() == "x"


def test_a_name_that_is_refused_is_shown_in_part(tmp_path: Path) -> None:
    """Of sixteen thousand folders no screen is filled."""
    path = crafted(tmp_path / "x.tar.zst", [member("small/" + "a/" * 16_000 + "a")])
    with pytest.raises(DamagedFile) as caught:
        unpack(path, tmp_path)
    assert len(str(caught.value)) < 500 + len(str(path))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_headers_of_headers_are_refused(tmp_path: Path, kind: bytes) -> None:
    """Thousands that each belong to the next one: tarfile reads them by recursion."""
    head, body = tarfile.TarInfo("head"), b"12 path=a/b\n"
    head.type, head.size = kind, len(body)
    one = head.tobuf(tarfile.USTAR_FORMAT) + body.ljust(512, b"\0")
    path = crafted(tmp_path / "x.tar.zst", [one] * 3000)
    with pytest.raises(DamagedFile, match="no sound tar archive"):
        unpack(path, tmp_path)


def test_a_header_of_any_length_is_not_read_into_memory(tmp_path: Path) -> None:
    """A pax header that says it is 2 GB long is refused for its length."""
    head = tarfile.TarInfo("././@PaxHeader")
    head.type, head.size = tarfile.XHDTYPE, 2**31
    with pytest.raises(DamagedFile, match="a header of"):
        unpack(crafted(tmp_path / "x.tar.zst", [head.tobuf(tarfile.USTAR_FORMAT)]), tmp_path)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """Another file with that name, and none at all."""
    path = tmp_path / "x.tar.zst"
    with pytest.raises(UsageError, match="cannot be read"):
        unpack(path, tmp_path)
    for data in (b"hello", zstandard.compress(b"hello" * 1000)):
        path.write_bytes(data)
        with pytest.raises(DamagedFile, match="refused"):
            unpack(path, tmp_path)
