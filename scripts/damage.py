"""Kinds of damage for scripts/fuzz: each gives other bytes for a file, by chance alone.

A kind takes the chance and a file as it was recorded, and returns the damaged bytes, or None where
the file has nothing of what the kind damages.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple


class Sound(NamedTuple):
    """A file as it was recorded; kin: the other files of its kind."""

    name: str
    data: bytes
    kin: Sequence[bytes] = ()


Damage = Callable[[random.Random, Sound], bytes | None]
BYTES: dict[str, Damage] = {}
JSON: dict[str, Damage] = {}
SECTOR = 512
LOOK_ALIKE = {"a": "а", "e": "е", "o": "о", "c": "с", "-": "‐", " ": "\u00a0", '"': "”", "0": "О"}
INVISIBLE = "\u200b\u200d\u202e\u2066\ufeff\u00ad"


def kind(group: dict[str, Damage], name: str) -> Callable[[Damage], Damage]:
    """Enter a kind of damage under its name."""

    def enter(damage: Damage) -> Damage:
        group[name] = damage
        return damage

    return enter


def _place(chance: random.Random, data: bytes, wanted: bytes = b"") -> int:
    """Return a place in a file; wanted: the next one behind it that holds one of these bytes."""
    start = chance.randrange(len(data))
    near = range(start, min(start + 4000, len(data)))
    return next((place for place in near if data[place] in wanted), start) if wanted else start


def _put(data: bytes, place: int, new: bytes, gone: int = 1) -> bytes:
    return data[:place] + new + data[place + gone :]


@kind(BYTES, "bit flipped")
def _bit(chance: random.Random, file: Sound) -> bytes:
    place = _place(chance, file.data)
    return _put(file.data, place, bytes([file.data[place] ^ 1 << chance.randrange(8)]))


@kind(BYTES, "8 bits flipped")
def _bits(chance: random.Random, file: Sound) -> bytes:
    data = bytearray(file.data)
    for _ in range(8):
        data[_place(chance, file.data)] ^= 1 << chance.randrange(8)
    return bytes(data)


@kind(BYTES, "byte replaced")
def _byte(chance: random.Random, file: Sound) -> bytes:
    return _put(file.data, _place(chance, file.data), chance.randbytes(1))


@kind(BYTES, "character replaced")
def _character(chance: random.Random, file: Sound) -> bytes:
    return _put(file.data, _place(chance, file.data), bytes([chance.randrange(32, 127)]))


@kind(BYTES, "digit replaced")
def _digit(chance: random.Random, file: Sound) -> bytes:
    place = _place(chance, file.data, b"0123456789")
    return _put(file.data, place, str(chance.randrange(10)).encode())


@kind(BYTES, "letter replaced")
def _letter(chance: random.Random, file: Sound) -> bytes:
    letters = b"abcdefghijklmnopqrstuvwxyz"
    return _put(file.data, _place(chance, file.data, letters), bytes([chance.choice(letters)]))


@kind(BYTES, "case changed")
def _case(chance: random.Random, file: Sound) -> bytes:
    place = _place(chance, file.data, b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return _put(file.data, place, bytes([file.data[place] ^ 32]))


@kind(BYTES, "cut off")
def _cut(chance: random.Random, file: Sound) -> bytes:
    return file.data[: _place(chance, file.data)]


@kind(BYTES, "bytes inserted")
def _insert(chance: random.Random, file: Sound) -> bytes:
    return _put(file.data, _place(chance, file.data), chance.randbytes(chance.randrange(1, 9)), 0)


@kind(BYTES, "characters inserted")
def _insert_text(chance: random.Random, file: Sound) -> bytes:
    text = bytes(chance.randrange(32, 127) for _ in range(chance.randrange(1, 5)))
    return _put(file.data, _place(chance, file.data), text, 0)


@kind(BYTES, "bytes gone")
def _delete(chance: random.Random, file: Sound) -> bytes:
    return _put(file.data, _place(chance, file.data), b"", chance.randrange(1, 17))


@kind(BYTES, "stretch doubled")
def _double(chance: random.Random, file: Sound) -> bytes:
    place, size = _place(chance, file.data), chance.randrange(1, 64)
    return _put(file.data, place, file.data[place : place + size], 0)


@kind(BYTES, "sector of zeros")
def _zeros(chance: random.Random, file: Sound) -> bytes:
    place = _place(chance, file.data) // SECTOR * SECTOR
    size = min(SECTOR, len(file.data) - place)
    return _put(file.data, place, b"\0" * size, size)


@kind(BYTES, "sector of another place")
def _sector(chance: random.Random, file: Sound) -> bytes:
    source = chance.choice([*file.kin, file.data])
    place, start = _place(chance, file.data), _place(chance, source)
    sector = source[start // SECTOR * SECTOR :][:SECTOR]
    return _put(file.data, place // SECTOR * SECTOR, sector, len(sector))


@kind(BYTES, "line ends converted")
def _crlf(chance: random.Random, file: Sound) -> bytes:
    lines = file.data.split(b"\n")
    if chance.random() < 0.5:
        return b"\r\n".join(lines)
    lines[chance.randrange(len(lines))] += b"\r"
    return b"\n".join(lines)


@kind(BYTES, "byte order mark")
def _mark(chance: random.Random, file: Sound) -> bytes:
    place = 0 if chance.random() < 0.3 else _place(chance, file.data)
    return _put(file.data, place, b"\xef\xbb\xbf", 0)


@kind(BYTES, "something behind the end")
def _tail(chance: random.Random, file: Sound) -> bytes:
    return file.data + chance.choice([b"\n", b" ", b"\0", b"]}\n", b"\t", b"{}", b"# x\n"])


@kind(BYTES, "white space")
def _space(chance: random.Random, file: Sound) -> bytes:
    place = _place(chance, file.data, b",:{}[]=")
    return _put(file.data, place + 1, chance.choice([b" ", b"\t", b"  ", b"\n"]), 0)


@kind(BYTES, "look-alike")
def _look_alike(chance: random.Random, file: Sound) -> bytes:
    place = _place(chance, file.data, "".join(LOOK_ALIKE).encode())
    twin = LOOK_ALIKE.get(chr(file.data[place]), "?")
    return _put(file.data, place, twin.encode())


@kind(BYTES, "invisible character")
def _invisible(chance: random.Random, file: Sound) -> bytes:
    return _put(file.data, _place(chance, file.data), chance.choice(INVISIBLE).encode(), 0)


@kind(BYTES, "a line gone, doubled or moved")
def _line(chance: random.Random, file: Sound) -> bytes:
    lines = file.data.split(b"\n")
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    how = chance.randrange(3)
    if how == 0:
        del lines[place]
    elif how == 1:
        lines.insert(place, lines[place])
    else:
        lines[place], lines[other] = lines[other], lines[place]
    return b"\n".join(lines)


@kind(BYTES, "another file's content")
def _file(chance: random.Random, file: Sound) -> bytes | None:
    return chance.choice(file.kin) if file.kin else None


# A JSON document: results.json, materials.json.

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64, 10**400, -0.0, 1e-7, 1.5, "", "x",
    "0", "\0", "(absent)", [], {}, [[]], {"a": 1},
)  # fmt: skip
LITERALS = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 400, b"1.0", b"-1", b"0x10", b"01", b"+1",
    b"1e2", b"null", b'"1"', b"true", b"[" * 3000 + b"]" * 3000, b"-0.0",
)  # fmt: skip
_number = re.compile(rb"(?<=[:\[, ])-?\d+(?:\.\d+)?(?:e-?\d+)?(?=[,}\]\n])")
_key = re.compile(rb'"([a-z_]+)": ?(?=["\d\[{tfn-])')


@kind(JSON, "number in another writing")
def _literal(chance: random.Random, file: Sound) -> bytes | None:
    start = chance.randrange(len(file.data))
    number = _number.search(file.data, start) or _number.search(file.data)
    if number is None:
        return None
    return _put(file.data, number.start(), chance.choice(LITERALS), len(number[0]))


@kind(JSON, "number changed a little")
def _nudged(chance: random.Random, file: Sound) -> bytes | None:
    start = chance.randrange(len(file.data))
    number = _number.search(file.data, start) or _number.search(file.data)
    if number is None:
        return None
    share = chance.choice([1e-3, 1e-6, 1e-8, 5e-10, 1e-12, 1e-15])
    new = repr(float(number[0]) * (1 + share)).encode()
    return _put(file.data, number.start(), new, len(number[0]))


@kind(JSON, "a key twice")
def _twice(chance: random.Random, file: Sound) -> bytes | None:
    start = chance.randrange(len(file.data))
    key = _key.search(file.data, start) or _key.search(file.data)
    if key is None:
        return None
    value = chance.choice([b"0.123", b'"a lie"', b"null", b"{}", b"[]", b"true"])
    return _put(file.data, key.start(), b'"%s": %s, ' % (key[1], value), 0)


@kind(JSON, "a key more")
def _more(chance: random.Random, file: Sound) -> bytes | None:
    start = chance.randrange(len(file.data))
    key = _key.search(file.data, start) or _key.search(file.data)
    value = chance.choice([b'"(absent)"', b'"nothing"', b"1", b"null", b"{}"])
    return key and _put(file.data, key.start(), b'"extra": %s, ' % value, 0)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every value of plain data with the path to it, inner ones first."""
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    yield path, value


def put(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Put a value at a path of plain data."""
    if not path:
        return value
    holder = tree
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return tree


@kind(JSON, "a value replaced or gone")
def _value(chance: random.Random, file: Sound) -> bytes:
    tree = json.loads(file.data)
    path, _ = chance.choice([leaf for leaf in leaves(tree) if leaf[0]])
    if chance.random() < 0.3:
        holder = tree
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
    else:
        tree = put(tree, path, chance.choice(ODD))
    return json.dumps(tree, indent=1).encode() + b"\n"


@kind(JSON, "the same in another form")
def _form(chance: random.Random, file: Sound) -> bytes:
    tree = json.loads(file.data)
    forms: list[dict[str, Any]] = [
        {"sort_keys": True},
        {"indent": 2},
        {"ensure_ascii": True, "separators": (",", ":")},
        {"ensure_ascii": False, "separators": (" , ", " : ")},
    ]
    return json.dumps(tree, **chance.choice(forms)).encode()
