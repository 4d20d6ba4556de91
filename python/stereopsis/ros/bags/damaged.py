"""Reads all complete messages of bags that are cut off, for example because the recorder was killed. Messages come in the order of the
file.
"""

from __future__ import annotations

import bz2
import importlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Stream:
    """The messages of one type that a publisher wrote to a topic. The type has the name that ROS 2 uses."""

    id: int
    topic: str
    type: str
    definition: str
    digest: str = ""
    count: int = 0


@dataclass(frozen=True)
class Record:
    stream: int
    time: int  # time of the recording, in nanoseconds
    data: bytes


Scan = Callable[[Path], Iterator[Stream | Record]]


class Damaged:
    """A bag file without an index. The constructor reads the whole file to list its streams, and each iteration over messages reads the
    file again.
    """

    def __init__(self, files: list[Path], scan: Scan) -> None:
        self._files, self._scan = files, scan
        found: dict[tuple[str, str], Stream] = {}
        counts: Counter[tuple[str, str]] = Counter()
        for _, stream, record in self._all():
            key = stream.topic, stream.type
            found.setdefault(key, replace(stream, id=len(found)))
            if record is not None:
                counts[key] += 1
        self.streams = [replace(stream, count=counts[key]) for key, stream in found.items()]
        self._ids = {(stream.topic, stream.type): stream for stream in self.streams}

    def messages(self, wanted: Collection[Stream]) -> Iterator[tuple[Stream, int, bytes]]:
        for _, stream, record in self._all():
            ours = self._ids[stream.topic, stream.type]
            if record is not None and ours in wanted:
                yield ours, record.time, record.data

    def _all(self) -> Iterator[tuple[Path, Stream, Record | None]]:
        for file in self._files:
            streams: dict[int, Stream] = {}
            for event in self._scan(file):
                if isinstance(event, Stream):
                    streams[event.id] = event
                    yield file, event, None
                elif event.stream in streams:
                    yield file, streams[event.stream], event


def inflated(data: bytes, compression: str) -> bytes:
    """Decompresses all bytes that are readable."""
    if compression in ("", "none"):
        return data
    if compression == "bz2":
        return bz2.BZ2Decompressor().decompress(data)
    if compression == "lz4":
        return bytes(importlib.import_module("lz4.frame").LZ4FrameDecompressor().decompress(data))
    if compression == "zstd":
        return bytes(_zstd().ZstdDecompressor().decompress(data))
    return b""


def _zstd() -> Any:
    try:
        return importlib.import_module("compression.zstd")  # in the standard library since Python 3.14
    except ModuleNotFoundError:
        return importlib.import_module("backports.zstd")
