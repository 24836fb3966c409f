"""Files that are read once, as long as they stay as they are."""

from pathlib import Path

from harness.recording.files_read import FilesRead


class Decoder:
    """Turns bytes into text, and notes which files were decoded."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, path: Path, data: bytes) -> str:
        self.names.append(path.name)
        return data.decode()


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / name).write_text(text)


def test_a_file_is_read_and_decoded_once(tmp_path: Path) -> None:
    """Whoever reads it the second time gets the same bytes and the same object."""
    write(tmp_path, a="one")
    files, decode = FilesRead[str](), Decoder()
    first, second = (files.read(tmp_path / "a", decode) for _ in range(2))
    assert (first.data, first.content) == (b"one", "one")
    assert second.content is first.content
    assert decode.names == ["a"]


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    """Written over or replaced, of another size or the same: what comes back is what is there."""
    write(tmp_path, a="one", b="two")
    files, decode = FilesRead[str](), Decoder()
    assert files.read(tmp_path / "a", decode).content == "one"
    (tmp_path / "b").replace(tmp_path / "a")
    assert files.read(tmp_path / "a", decode).content == "two"
    write(tmp_path, a="three")
    assert files.read(tmp_path / "a", decode).content == "three"


def test_no_more_is_kept_than_the_limit(tmp_path: Path) -> None:
    """What was read longest ago is let go of first; a file larger than all is not kept."""
    write(tmp_path, a="aaaa", b="bbbb", c="cccc", large="x" * 11)
    files, decode = FilesRead[str](most_bytes=10), Decoder()
    for name in ("a", "b", "a", "c", "a", "b", "large", "large"):
        files.read(tmp_path / name, decode)
    assert decode.names == ["a", "b", "c", "b", "large", "large"]
