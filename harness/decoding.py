"""Undo the encodings of HTTP bodies, and never more of them than fits.

A body of a few kilobytes can decode to gigabytes. What decodes to more than a hundred times its
size, or to more than 1 GB, is refused while it is decoded; 16 MB are let in whatever the size was.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

from harness.errors import CheckFailed

MOST_TIMES = 100
MOST_DECODED = 2**30
LEAST_LIMIT = 2**24
STEP = 2**10  # bytes of zstd at a time: they never decompress to more than 32 MB


class DecodesToTooMuch(CheckFailed):
    """A body decodes to more than is let in."""


def are_known(encodings: str) -> bool:
    """Tell whether every one of these encodings can be undone."""
    return all(name.strip().lower() in _decoders for name in encodings.split(","))


def decoded(encodings: str, data: bytes) -> bytes | None:
    """Undo a Content-Encoding; None where one of them is unknown or the data does not fit it.

    Raises DecodesToTooMuch.
    """
    limit = limit_of(len(data))
    for encoding in reversed([name.strip().lower() for name in encodings.split(",")]):
        decode = _decoders.get(encoding)
        if decode is None:
            return None
        try:
            data = _bounded(decode(data, limit), limit)
        except DecodesToTooMuch:
            raise
        except Exception:  # noqa: BLE001  each library has its own error for data that does not fit
            return None
    return data


def limit_of(size: int) -> int:
    """Return to how many bytes a body of so many may decode."""
    return min(MOST_DECODED, max(LEAST_LIMIT, MOST_TIMES * size))


def _bounded(pieces: Iterator[bytes], limit: int) -> bytes:
    taken, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise DecodesToTooMuch(
                f"a body decodes to more than {limit} bytes: refused (at most {MOST_TIMES} times "
                f"its size, and at most {MOST_DECODED} bytes, are let in)."
            )
        taken.append(piece)
    return b"".join(taken)


def _as_it_is(data: bytes, _limit: int) -> Iterator[bytes]:
    yield data


def _gunzip(data: bytes, limit: int) -> Iterator[bytes]:
    """Yield the members of a gzip file; zeros may follow them (as gzip.decompress has it)."""
    while data := data.lstrip(b"\0"):
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        yield from _inflated(member, data, limit)
        data = member.unused_data


def _inflate(data: bytes, limit: int) -> Iterator[bytes]:
    """Yield zlib's form, or, as some servers send it, deflate's own without a head."""
    try:
        yield b"".join(_inflated(zlib.decompressobj(), data, limit))
    except (zlib.error, ValueError):
        yield from _inflated(zlib.decompressobj(-zlib.MAX_WBITS), data, limit)


def _inflated(stream: Any, data: bytes, limit: int) -> Iterator[bytes]:
    yield stream.decompress(data, limit + 1)
    if not stream.eof and not stream.unconsumed_tail:
        raise ValueError("cut off")


def _unbrotli(data: bytes, limit: int) -> Iterator[bytes]:
    import brotli

    stream = brotli.Decompressor()
    yield stream.process(data, output_buffer_limit=limit + 1)
    if not stream.is_finished():
        yield stream.process(b"", output_buffer_limit=limit + 1)
    if not stream.is_finished():
        raise ValueError("cut off")


def _unzstd(data: bytes, _limit: int) -> Iterator[bytes]:
    import zstandard

    while data:
        frame: Any = zstandard.ZstdDecompressor().decompressobj()
        for start in range(0, len(data), STEP):
            yield frame.decompress(data[start : start + STEP])
            if frame.eof:
                data = frame.unused_data + data[start + STEP :]
                break
        else:
            raise ValueError("cut off")


Decode = Callable[[bytes, int], Iterator[bytes]]
_decoders: dict[str, Decode] = {
    "identity": _as_it_is,
    "": _as_it_is,
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
