"""Stores the results of units: files below a job's folder, and for each unit a sidecar that identifies them.

A file is written under a temporary name, flushed to the disk, and renamed; the sidecar is written last. A unit is therefore
complete or absent, even if a worker is killed. Two workers may compute the same unit, because both write the same bytes.
"""

import hashlib
import json
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO

from .. import _native
from .._errors import FileError, FormatError
from .._json import parsed


class State(Enum):
    absent = "absent"
    whole = "whole"
    damaged = "damaged"  # the files differ from the sidecar


def sha256_of(file: BinaryIO) -> str:
    """Returns the SHA-256 of the file's bytes in hexadecimal digits."""
    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def write_whole(path: Path, content: bytes) -> None:
    """Writes a complete file, or none. Raises FileError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _native.write_bytes(path, content)
    except FileError as error:
        raise FileError(f"{error}; free space, and run again: complete files are kept") from error
    except OSError as error:
        raise FileError(f"{path.parent} cannot be created: {error.strerror}; give another folder, and run again") from error


class Store:
    """The results of one job. `job` is a hash of all settings that affect results. The hash distinguishes the job from others in the same
    folder.
    """

    def __init__(self, folder: Path, job: str) -> None:
        self._folder, self._job = folder, job
        self._compared: dict[str, tuple[int, ...]] = {}  # files that this process has verified

    def path(self, name: str) -> Path:
        return self._folder / name

    def sidecar(self, unit: str) -> Path:
        return self._folder / "done" / f"{unit}.json"

    def keep(self, unit: str, files: Mapping[str, bytes], about: Mapping[str, Any]) -> None:
        """Writes the files of a unit, by name, and then its sidecar."""
        for name, content in files.items():
            write_whole(self.path(name), content)
        sums = {name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} for name, content in files.items()}
        text = json.dumps({"unit": unit, "job": self._job, "files": sums, **about}, indent=1)
        write_whole(self.sidecar(unit), text.encode())

    def about(self, unit: str) -> dict[str, Any] | None:
        """Returns the sidecar of a unit; None if it is missing, unreadable, or of another job."""
        try:
            about = parsed(self.sidecar(unit).read_bytes(), f"{self.sidecar(unit)}")
        except (OSError, FormatError):
            return None
        if not isinstance(about, dict):
            return None
        return about if about.get("job") == self._job and isinstance(about.get("files"), dict) else None

    def state(self, unit: str, contents: bool = True) -> State:
        """Returns the state of a unit. Without `contents`, only the sizes of its files are checked."""
        about = self.about(unit)
        if about is None:
            return State.absent
        whole = all(self._fits(name, expected, contents) for name, expected in about["files"].items())
        return State.whole if whole else State.damaged

    def _fits(self, name: str, expected: Mapping[str, Any], contents: bool) -> bool:
        try:
            about = self.path(name).stat()
            if about.st_size != expected["bytes"]:
                return False
            same = about.st_ino, about.st_size, about.st_mtime_ns
            if not contents or self._compared.get(name) == same:
                return True
            with open(self.path(name), "rb") as file:
                whole = bool(sha256_of(file) == expected["sha256"])
        except OSError:
            return False
        if whole:
            self._compared[name] = same
        return whole
