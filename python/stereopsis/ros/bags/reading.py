"""One interface to bags of ROS 1, MCAP and sqlite3 files, and rosbag2 folders, complete or cut off."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from ..._errors import FileError, FormatError
from . import scan_mcap, scan_ros1, scan_sqlite
from .damaged import Damaged, Scan, Stream

SCANS: dict[str, Scan] = {".bag": scan_ros1.scan, ".mcap": scan_mcap.scan, ".db3": scan_sqlite.scan}


def is_bag(path: Path) -> bool:
    """Returns whether `path` has the name of a bag, or is a folder that contains one."""
    if path.is_dir():
        return (path / "metadata.yaml").is_file() or bool(_storage(path))
    return path.suffix in SCANS


def _storage(folder: Path) -> list[Path]:
    """Returns the files of a rosbag2 folder in order: NAME_0.mcap, NAME_1.mcap, …"""
    files = [file for file in folder.iterdir() if file.suffix in (".mcap", ".db3")]
    return sorted(files, key=lambda file: [int(n) if n.isdigit() else 0 for n in re.findall(r"\d+", file.stem)[-1:]])


@dataclass(frozen=True)
class Topic:
    """A topic and its type, which has the name that ROS 2 uses: sensor_msgs/msg/Image."""

    name: str
    type: str
    count: int


@dataclass(frozen=True)
class Raw:
    """A message with its serialised bytes."""

    stream: Stream
    time: int
    data: bytes


class Bag:
    """A recording. For a file that is cut off, `damage` describes the damage, and all complete messages are read."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise FileError(f"'{path}' does not exist; give a .bag, .mcap or .db3 file, or a folder that ros2 bag has written")
        if not is_bag(path):
            raise FormatError(f"'{path}' is not a bag; give a .bag, .mcap or .db3 file, or a folder that ros2 bag has written")
        self.path, self.damage = path, ""
        self.is_ros1 = path.suffix == ".bag"
        self._stack = ExitStack()
        self._reader: AnyReader | None = None
        self._damaged: Damaged | None = None
        try:
            self._open()
        except Exception as error:  # noqa: BLE001 - rosbags raises whatever a file of any contents leads it to
            self._open_damaged(error)

    def _open(self) -> None:
        self._reader = AnyReader([self.path], default_typestore=get_typestore(Stores.ROS2_HUMBLE))
        self._stack.enter_context(self._reader)
        self.typestore: Typestore = self._reader.typestore
        self._connections = {
            index: connection for index, connection in enumerate(self._reader.connections)
        }
        self.streams = [
            Stream(index, c.topic, c.msgtype, c.msgdef.data, c.digest, c.msgcount)
            for index, c in self._connections.items()
        ]

    def _open_damaged(self, error: Exception) -> None:
        files = _storage(self.path) if self.path.is_dir() else [self.path]
        try:
            self._damaged = Damaged(files, SCANS[files[0].suffix])
            self.streams = self._damaged.streams
            self.typestore = _typestore_of(self.streams, self.is_ros1)
        except Exception as worse:  # noqa: BLE001
            raise FormatError(f"'{self.path}' cannot be read as a bag: {worse}") from worse
        if not self.streams:
            raise FormatError(f"'{self.path}' cannot be read as a bag, and no message in it is complete: {error}") from error
        self.damage = f"'{self.path}' has no index or is cut off ({error}); it is read to its last whole message"

    @property
    def topics(self) -> dict[str, Topic]:
        found: dict[str, Topic] = {}
        for stream in self.streams:
            before = found[stream.topic].count if stream.topic in found else 0
            found[stream.topic] = Topic(stream.topic, stream.type, before + stream.count)
        return found

    def messages(self, topics: Collection[str] | None = None) -> Iterator[Raw]:
        """Yields the messages of the given topics, or of all topics, in the order of their recording times."""
        wanted = [stream for stream in self.streams if topics is None or stream.topic in topics]
        if not wanted:
            return
        if self._damaged is not None:
            for stream, time, data in self._damaged.messages(wanted):
                yield Raw(stream, time, data)
            return
        assert self._reader is not None
        ids = {id(self._connections[stream.id]): stream for stream in wanted}
        by_key = {(c.id, id(c.owner)): ids[id(c)] for c in self._connections.values() if id(c) in ids}
        source = self._reader.messages([self._connections[stream.id] for stream in wanted])
        while True:
            try:
                connection, time, data = next(source)
            except StopIteration:
                return
            except Exception as error:  # noqa: BLE001 - as above
                self.damage = f"'{self.path}' is damaged behind the last message that was read: {error}"
                return
            yield Raw(by_key[connection.id, id(connection.owner)], time, bytes(data))

    def decoded(self, raw: Raw) -> Any:
        """Returns the message that the bytes encode. Raises FormatError if the bytes do not encode a message of the topic's type."""
        kind = raw.stream.type
        try:
            if self.is_ros1:
                return self.typestore.deserialize_ros1(raw.data, kind)
            return self.typestore.deserialize_cdr(raw.data, kind)
        except Exception as error:  # noqa: BLE001 - as above
            raise FormatError(f"the bytes are not a {kind}: {error}") from error

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _typestore_of(streams: list[Stream], is_ros1: bool) -> Typestore:
    if not any(stream.definition for stream in streams):
        return get_typestore(Stores.ROS1_NOETIC if is_ros1 else Stores.ROS2_HUMBLE)
    store = get_typestore(Stores.EMPTY)
    for stream in streams:
        if "IDL: " in stream.definition[:100]:
            for part in stream.definition.split("=" * 80 + "\n")[1:]:
                store.register(get_types_from_idl(part.split("\n", 1)[1]))
        elif stream.definition:
            store.register(get_types_from_msg(stream.definition, stream.type))
    return store
