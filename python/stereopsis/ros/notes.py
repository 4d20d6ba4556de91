"""Notes about faulty messages. The first message of each kind is logged, and the others are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable


class Notes:
    """Logs the first message of each kind and counts the others. `say(text)` logs a sentence, and `counts` has the number of messages of
    each kind.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.counts: Counter[str] = Counter()

    def note(self, kind: str, sentence: str) -> None:
        """Logs the sentence if it is the first of its kind. `kind` is a short text, such as "left/image: broken data", that the
        summary repeats.
        """
        self.counts[kind] += 1
        if self.counts[kind] == 1:
            self.say(sentence)

    def summary(self) -> list[str]:
        """Returns a line for each kind that occurred more than once."""
        return [f"{kind}: {count} times" for kind, count in self.counts.items() if count > 1]
