"""Reads bags of ROS 1 record by record (wiki.ros.org/Bags/Format/2.0)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .damaged import Record, Stream, inflated

MAGIC = b"#ROSBAG V2.0\n"
MESSAGE, CHUNK, CONNECTION = 2, 5, 7
Header = dict[bytes, bytes]


def scan(path: Path) -> Iterator[Stream | Record]:
    with path.open("rb") as file:
        if file.readline(64) != MAGIC:
            return
        while (head := _sized(file)) is not None:
            header = _fields(head[0])
            data = _sized(file)
            if data is None:
                return
            if _code(header) == CHUNK:
                yield from _chunk(inflated(data[0], header.get(b"compression", b"none").decode()))
            elif data[1]:
                yield from _record(header, data[0])


def _sized(file: BinaryIO) -> tuple[bytes, bool] | None:
    """Returns the readable part of a field that begins with its size, and whether the field is complete."""
    head = file.read(4)
    if len(head) < 4:
        return None
    (size,) = struct.unpack("<I", head)
    data = file.read(size)
    return data, len(data) == size


def _chunk(data: bytes) -> Iterator[Stream | Record]:
    at, parts = 0, []
    while at + 4 <= len(data):
        (size,) = struct.unpack_from("<I", data, at)
        if at + 4 + size > len(data):
            return
        parts.append(data[at + 4 : at + 4 + size])
        at += 4 + size
        if len(parts) == 2:
            yield from _record(_fields(parts[0]), parts[1])
            parts = []


def _record(header: Header, data: bytes) -> Iterator[Stream | Record]:
    if _code(header) == CONNECTION:
        about = _fields(data)
        package, _, name = about.get(b"type", b"").decode(errors="replace").rpartition("/")
        definition = about.get(b"message_definition", b"").decode(errors="replace")
        (number,) = struct.unpack("<I", header[b"conn"])
        topic = header[b"topic"].decode(errors="replace")
        yield Stream(number, topic, f"{package}/msg/{name}", definition, about.get(b"md5sum", b"").decode())
    elif _code(header) == MESSAGE:
        (number,) = struct.unpack("<I", header[b"conn"])
        seconds, nanoseconds = struct.unpack("<II", header[b"time"])
        yield Record(number, seconds * 10**9 + nanoseconds, data)


def _code(header: Header) -> int:
    return header.get(b"op", b"\0")[0]


def _fields(data: bytes) -> Header:
    fields, at = {}, 0
    while at + 4 <= len(data):
        (size,) = struct.unpack_from("<I", data, at)
        name, _, value = data[at + 4 : at + 4 + size].partition(b"=")
        fields[name] = value
        at += 4 + size
    return fields
