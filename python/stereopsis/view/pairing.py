"""The pairing of the two views of a source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .._errors import CallError

LOOSE, STRICT = 0.5, 0.05  # largest difference of the times of a pair, as a share of the time between two images of a view


@dataclass(frozen=True)
class Pairing:
    """How to pair images: by "number" or by "stamp". If `strict` is true, pairing by number requires a partner for every file, and other
    pairings require nearly equal times. None selects the default of the source: files are paired by number and strictly, videos and cameras by
    number and not strictly, and bags by stamp.
    """

    by: str | None = None
    strict: bool | None = None

    @classmethod
    def of(cls, message: Mapping[str, object]) -> Pairing:
        by = str(message["by"])
        if by not in ("number", "stamp"):
            raise CallError(f"--pair {by} is not allowed; it must be number or stamp")
        return cls(by, bool(message["strict"]))

    def or_usual(self, by: str, strict: bool) -> Pairing:
        return Pairing(self.by or by, strict if self.strict is None else self.strict)
