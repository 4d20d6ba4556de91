"""Writes a bag: a rosbag2 folder of MCAP or sqlite3, or a .bag of ROS 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rosbags.interfaces import Connection
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.store import Typestore

from ..families import Bagged
from .damaged import Stream


class BagWriter:
    """A new bag. `path` must not exist; the storage is mcap, sqlite3 or ros1. A topic is created with its first message."""

    def __init__(self, path: Path, storage: str) -> None:
        self.typestore: Typestore = get_typestore(Stores.ROS1_NOETIC if storage == "ros1" else Stores.ROS2_HUMBLE)
        self.family = Bagged(self.typestore)
        self._is_ros1 = storage == "ros1"
        plugin = StoragePlugin.SQLITE3 if storage == "sqlite3" else StoragePlugin.MCAP
        self._writer: Any = Writer1(path) if self._is_ros1 else Writer2(path, version=8, storage_plugin=plugin)
        self._writer.open()
        self._connections: dict[tuple[str, str], Connection] = {}

    def write(self, topic: str, kind: str, time: int, message: Any) -> None:
        """Writes a message. `kind` is the name of the message type in ROS 2."""
        serialize = self.typestore.serialize_ros1 if self._is_ros1 else self.typestore.serialize_cdr
        self._writer.write(self._connection(topic, kind, self.typestore), time, serialize(message, kind))

    def pass_on(self, stream: Stream, time: int, data: bytes, types: Typestore) -> None:
        """Copies a message from another bag of the same ROS version; `types` is the typestore of that bag."""
        self._writer.write(self._connection(stream.topic, stream.type, types), time, data)

    def _connection(self, topic: str, kind: str, types: Typestore) -> Connection:
        key = topic, kind
        if key not in self._connections:
            self._connections[key] = self._writer.add_connection(topic, kind, typestore=types)
        return self._connections[key]

    def close(self) -> None:
        self._writer.close()
