"""Notes about faulty messages: a line for the first of each kind, a count for the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable


class Notes:
    """`say` takes a sentence. Kinds are keys of `counts`."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._first: dict[str, str] = {}
        self.counts: Counter[str] = Counter()

    def note(self, kind: str, sentence: str) -> None:
        """Says the sentence if it is the first of its kind. The kind is text for the summary: "left/image: broken data"."""
        self.counts[kind] += 1
        if self.counts[kind] == 1:
            self._say(sentence)

    def summary(self) -> list[str]:
        """A line for each kind that came more than once."""
        return [f"{kind}: {count} times" for kind, count in self.counts.items() if count > 1]
