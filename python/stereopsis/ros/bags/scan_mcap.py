"""Reads MCAP files record by record (mcap.dev/spec)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .damaged import Record, Stream, inflated

MAGIC = b"\x89MCAP0\r\n"
SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 3, 4, 5, 6, 15


def scan(path: Path) -> Iterator[Stream | Record]:
    with path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            yield from _Scan().records(file)


class _Scan:
    def __init__(self) -> None:
        self._schemas: dict[int, tuple[str, str]] = {}

    def records(self, file: BinaryIO) -> Iterator[Stream | Record]:
        while len(head := file.read(9)) == 9:
            code, size = struct.unpack("<BQ", head)
            if code == DATA_END:
                return
            content = file.read(size)
            if code == CHUNK:
                yield from self._chunk(content)
            elif len(content) < size:
                return
            else:
                yield from self._record(code, content)

    def _chunk(self, content: bytes) -> Iterator[Stream | Record]:
        """Yields the records of a chunk; the last one may be cut off."""
        if len(content) < 32:
            return
        compression, at = _text(content, 28)
        data = inflated(content[at + 8 :], compression)
        at = 0
        while at + 9 <= len(data):
            code, size = struct.unpack_from("<BQ", data, at)
            if at + 9 + size > len(data):
                return
            yield from self._record(code, data[at + 9 : at + 9 + size])
            at += 9 + size

    def _record(self, code: int, content: bytes) -> Iterator[Stream | Record]:
        if code == SCHEMA:
            (number,) = struct.unpack_from("<H", content)
            name, at = _text(content, 2)
            _, at = _text(content, at)
            self._schemas[number] = name, _text(content, at)[0]
        elif code == CHANNEL:
            number, schema = struct.unpack_from("<HH", content)
            name, definition = self._schemas.get(schema, ("", ""))
            yield Stream(number, _text(content, 4)[0], name, definition)
        elif code == MESSAGE:
            number, _, time = struct.unpack_from("<HIQ", content)
            yield Record(number, time, content[22:])


def _text(content: bytes, at: int) -> tuple[str, int]:
    """Returns the text at the offset `at`, and the offset of its end."""
    (size,) = struct.unpack_from("<I", content, at)
    return content[at + 4 : at + 4 + size].decode(errors="replace"), at + 4 + size
