"""Reads the sqlite3 files of rosbag2 row by row, up to the first row that cannot be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from .damaged import Record, Stream


def scan(path: Path) -> Iterator[Stream | Record]:
    with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)) as database:
        try:
            database.execute("PRAGMA writable_schema = 1")  # opens a file even if it is shorter than its header says
            yield from _streams(database)
            for row in database.execute("SELECT topic_id, timestamp, data FROM messages ORDER BY id"):
                yield Record(*row)
        except sqlite3.DatabaseError:  # the file ends here
            return


def _streams(database: sqlite3.Connection) -> Iterator[Stream]:
    definitions: dict[str, tuple[str, str]] = {}
    columns = "topic_type, encoded_message_definition, type_description_hash"
    try:
        for name, definition, digest in database.execute(f"SELECT {columns} FROM message_definitions"):
            definitions[name] = definition, digest
    except sqlite3.OperationalError:  # earlier versions have no such table
        pass
    for number, topic, name in database.execute("SELECT id, name, type FROM topics ORDER BY id"):
        yield Stream(number, topic, name, *definitions.get(name, ("", "")))
