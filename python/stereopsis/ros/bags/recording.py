"""Reads the stamped pairs of a bag."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..._errors import FormatError
from ..notes import Notes
from ..pairs import GivenCameras, Pairing, StampedPair
from ..stamps import shown
from ..sync import TopicCount
from .discovery import found, is_raw, seed_topics
from .reading import Bag, Raw


def say(sentence: str) -> None:
    print("stereopsis:", sentence, file=sys.stderr)


class Recording:
    """Stamped pairs with their cameras, in the order of the bag. Each iteration starts at the beginning.

    left, right   image topics; None: the topics are found by their names
    raw           True if the images must be rectified with CameraInfo; None: decided by the names of the topics
    approximate   largest difference of the stamps of a pair, in seconds; 0: the stamps must be equal
    queue         number of messages of a topic that wait for messages of the other topics
    seeds, seed_depth   topic of disparities that are known beforehand, or of depth, in the rectified left view
    cameras       function of the size of the images and of `raw`, which returns their cameras in place of CameraInfo

    >>> for pair in Recording("drive.mcap"):                        # doctest: +SKIP
    ...     r = st.match(pair.left, pair.right, rig=pair.cameras.rig, want=["depth"])
    """

    def __init__(
        self,
        path: str | Path,
        left: str | None = None,
        right: str | None = None,
        raw: bool | None = None,
        approximate: float = 0.0,
        queue: int = 30,
        notes: Notes | None = None,
        cameras: GivenCameras | None = None,
        seeds: str | None = None,
        seed_depth: str | None = None,
    ) -> None:
        self.bag = Bag(Path(path))
        types = {t.name: t.type for t in self.bag.topics.values()}
        self.topics = replace(found(types, left, right), **seed_topics(types, seeds, seed_depth))
        self.notes = notes or Notes(say)
        self._cameras = cameras
        has_infos = cameras is not None or None not in self.topics.infos
        self.raw = has_infos and is_raw(self.topics.left) if raw is None else raw
        if raw is None and not has_infos and is_raw(self.topics.left):
            self.notes.note("no camera_info", "there are no camera_info topics, so the images are treated as rectified")
        self._tolerance, self._queue = round(approximate * 1e9), queue
        self.pairing = self._new_pairing()

    @property
    def length(self) -> int:
        """Returns an upper limit of the number of pairs."""
        return min(self.bag.topics[topic].count for topic in self.topics.images)

    @property
    def counts(self) -> dict[str, TopicCount]:
        """Returns the counts of the last iteration for each image topic."""
        return dict(zip(self.topics.images, self.pairing.images.counts, strict=True))

    def __iter__(self) -> Iterator[StampedPair]:
        self.pairing = self._new_pairing()
        for raw in self.bag.messages(self.topics.all()):
            yield from self.pairs_of(raw)
        yield from self.end()

    def pairs_of(self, raw: Raw) -> list[StampedPair]:
        """Returns the pairs that this message completes, for callers that read the bag's messages themselves."""
        topic = raw.stream.topic
        try:
            message = self.bag.decoded(raw)
        except FormatError as error:
            self.notes.note(f"{topic}: broken messages", f"{topic}, recorded at {shown(raw.time)}: {error}; the message is skipped")
            return []
        return self.pairing.add(topic, message, raw.time)

    def end(self) -> list[StampedPair]:
        if self.bag.damage:
            self.notes.note("damaged bag", self.bag.damage)
        return self.pairing.flush()

    def begin(self) -> None:
        """Starts a new iteration; call it before the first `pairs_of`."""
        self.pairing = self._new_pairing()

    def close(self) -> None:
        self.bag.close()

    def _new_pairing(self) -> Pairing:
        return Pairing(self.topics, self.notes, self.raw, self._tolerance, self._queue, self._cameras, awaits_seeds=True)
