"""Writes the results of a long run in parts, each of which is a complete bag. An interruption loses at most the last part."""

from __future__ import annotations

import io
import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from ... import _native
from ..._errors import CallError
from ..._json import parsed
from .reading import Bag
from .writing import BagWriter


@dataclass(frozen=True)
class Done:
    """The progress of a run: messages of the input that were read, pairs that were written, the estimated range."""

    messages: int = 0
    pairs: int = 0
    estimated: tuple[int, int] | None = None

    @classmethod
    def of(cls, noted: dict[str, Any]) -> Done:
        range_ = noted.get("estimated")
        return cls(noted["messages"], noted["pairs"], None if range_ is None else (range_[0], range_[1]))


class Segments:
    """The parts of a result. The parts lie in a folder beside the result until the result is complete."""

    def __init__(self, out: Path, storage: str, call: dict[str, Any], resume: bool) -> None:
        self.out, self._storage = out, storage
        self._folder = _native.name_beside(out, ".parts")
        self._state = self._folder / "state.json"
        self.done = Done()
        self._count = 0
        if out.exists():
            raise CallError(f"'{out}' exists already; remove it, or choose another name")
        if self._folder.exists():
            self._take_up(call, resume)
        else:
            self._folder.mkdir(parents=True)
            self._note(call)
        self._call = call

    def _take_up(self, call: dict[str, Any], resume: bool) -> None:
        if not resume:
            raise CallError(f"'{self.out}' is incomplete; continue with --resume, or remove '{self._folder}'")
        noted = parsed(self._state.read_text(), f"'{self._state}'")
        if noted["call"] != json.loads(json.dumps(call)):
            different = next(name for name in {**call, **noted["call"]} if call.get(name) != noted["call"].get(name))
            raise CallError(
                f"'{self.out}' was started by another call: {different} was {noted['call'].get(different)!r} and is "
                f"{call.get(different)!r}; give the same value, or remove '{self._folder}'"
            )
        self.done, self._count = Done.of(noted["done"]), noted["segments"]
        for file in self._folder.iterdir():  # removes files that a killed run left incomplete
            if file != self._state and file not in self._paths():
                shutil.rmtree(file) if file.is_dir() else file.unlink()

    @property
    def is_empty(self) -> bool:
        return self._count == 0

    def open(self) -> BagWriter:
        """Begins the next part."""
        return BagWriter(self._path(self._count), self._storage)

    def finish(self, writer: BagWriter, done: Done) -> None:
        """Marks the part as complete."""
        writer.close()
        self._count += 1
        self.done = done
        self._note(self._call)

    def assemble(self) -> None:
        """Merges all parts into one bag under its final name."""
        whole = self._folder / "whole"
        if self._storage != "ros1" and not self.out.suffix:
            self._as_folder(whole)
            made = whole
        else:
            made = self._as_file(whole)
        _native.finish_file(made, self.out) if made.is_file() else os.replace(made, self.out)
        shutil.rmtree(self._folder)

    def _as_folder(self, whole: Path) -> None:
        """Makes a bag that is split into files, as `ros2 bag` splits long bags."""
        whole.mkdir()
        yaml, merged = YAML(typ="safe"), _Metadata()
        for index, part in enumerate(self._paths()):
            about = yaml.load((part / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
            (file,) = about["relative_file_paths"]
            name = f"{self.out.name}_{index}{Path(file).suffix}"
            os.replace(part / file, whole / name)
            merged.add(about, name)
        text = io.StringIO()
        yaml.dump({"rosbag2_bagfile_information": merged.about}, text)
        (whole / "metadata.yaml").write_text(text.getvalue())

    def _as_file(self, whole: Path) -> Path:
        paths = self._paths()
        if len(paths) > 1:
            writer = BagWriter(whole, self._storage)
            for path in paths:
                with Bag(path) as part:
                    for raw in part.messages():
                        writer.pass_on(raw.stream, raw.time, raw.data, part.typestore)
            writer.close()
            paths = [whole]
        if self._storage == "ros1":
            return paths[0]
        return next(file for file in paths[0].iterdir() if file.name != "metadata.yaml")

    def _paths(self) -> list[Path]:
        return [self._path(index) for index in range(self._count)]

    def _path(self, index: int) -> Path:
        return self._folder / f"{index:06d}{'.bag' if self._storage == 'ros1' else ''}"

    def _note(self, call: dict[str, Any]) -> None:
        text = json.dumps({"call": call, "done": asdict(self.done), "segments": self._count}, indent=1)
        _native.write_bytes(self._state, text.encode())


class _Metadata:
    """Returns rosbag2's metadata.yaml for several files."""

    def __init__(self) -> None:
        self.about: dict[str, Any] = {}
        self._topics: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, part: dict[str, Any], name: str) -> None:
        one = {**part["files"][0], "path": name}
        if not self.about:
            self.about = {**part, "relative_file_paths": [], "files": [], "message_count": 0}
            self._begin, self._end = part["starting_time"]["nanoseconds_since_epoch"], 0
        begin = part["starting_time"]["nanoseconds_since_epoch"]
        self._begin = min(self._begin, begin)
        self._end = max(self._end, begin + part["duration"]["nanoseconds"])
        for topic in part["topics_with_message_count"]:
            key = topic["topic_metadata"]["name"], topic["topic_metadata"]["type"]
            known = self._topics.setdefault(key, {**topic, "message_count": 0})
            known["message_count"] += topic["message_count"]
        self.about["relative_file_paths"].append(name)
        self.about["files"].append(one)
        self.about["message_count"] += part["message_count"]
        self.about["starting_time"] = {"nanoseconds_since_epoch": self._begin}
        self.about["duration"] = {"nanoseconds": self._end - self._begin}
        self.about["topics_with_message_count"] = list(self._topics.values())
