"""Files of path costs that are passed from stripe to stripe.

The first 8 bytes are MAGIC. The next 4 bytes are the length of the header (little endian). The header is JSON. The rest is the array of
path costs, with the shape (paths, columns, disparities). The array is uint8 if all values fit, which halves the size at no cost. Otherwise,
the array is little-endian uint16, compressed by zlib.
"""

import hashlib
import json
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import FormatError
from .._json import parsed
from .spans import Span

MAGIC = b"STPATHS\n"
VERSION = 2
Paths = npt.NDArray[np.uint16]


def packed(paths: Paths, job: str, row: int, columns: Span, first_disparity: int) -> bytes:
    """Returns the contents of a file of path costs. `row` is the first row that continues from the path costs."""
    narrow = int(paths.max(initial=0)) < 256
    payload = paths.astype("u1").tobytes() if narrow else zlib.compress(paths.astype("<u2").tobytes(), level=1)
    kinds, _, disparities = paths.shape
    header = {
        "version": VERSION,
        "job": job,
        "row": row,
        "columns": columns,
        "kinds": kinds,
        "disparities": [first_disparity, first_disparity + disparities],
        "dtype": "u1" if narrow else "<u2",
        "sha256": hashlib.sha256(payload).hexdigest(),
    }
    text = json.dumps(header).encode()
    return MAGIC + struct.pack("<I", len(text)) + text + payload


def unpacked(content: bytes, name: str, job: str, row: int) -> tuple[Span, Paths]:
    """Returns the columns and the path costs in them. Raises FormatError if the file belongs to another job or row."""
    if content[: len(MAGIC)] != MAGIC:
        raise FormatError(f"{name} is not a file of path costs; run again to compute it again")
    try:
        start = len(MAGIC) + 4
        (length,) = struct.unpack("<I", content[len(MAGIC) : start])
        header: dict[str, Any] = parsed(content[start : start + length], f"the header of {name}")
        payload = content[start + length :]
        whole = hashlib.sha256(payload).hexdigest() == header["sha256"]
    except (struct.error, FormatError, KeyError, TypeError) as error:
        raise FormatError(f"{name} is damaged: its header cannot be read; run again to compute it again") from error
    if not whole:
        raise FormatError(f"{name} is damaged: its checksum differs; run again to compute it again")
    if (header["version"], header["job"], header["row"]) != (VERSION, job, row):
        raise FormatError(f"{name} has the path costs of another job, row or version; run again to compute it again")
    columns, (first, end) = Span(*header["columns"]), header["disparities"]
    if header["dtype"] != "u1":
        payload = zlib.decompress(payload)
    paths = np.frombuffer(payload, dtype=header["dtype"]).reshape(header["kinds"], columns.length, end - first)
    return columns, paths.astype(np.uint16, copy=False)
