"""Makes pairs with their cameras from the messages of four topics."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import Error
from .cameras import Camera, Cameras, cameras_of
from .images import Array, array_of, grey_of, is_lossy
from .notes import Notes
from .seeds import SeedMessages
from .stamps import shown, stamp_of
from .sync import Synchroniser

SIDES = ("left", "right")
MALFORMED = (Error, ValueError, TypeError, AttributeError, OverflowError)  # the errors that a malformed message can cause


@dataclass(frozen=True)
class Topics:
    """Names of the topics of a pair; None for a topic that does not exist. Seeds, the disparities that are known beforehand, come as
    disparities (`seeds`) or as depth (`seed_depth`), in the rectified left view.
    """

    left: str
    right: str
    left_info: str | None = None
    right_info: str | None = None
    seeds: str | None = None
    seed_depth: str | None = None

    @property
    def images(self) -> tuple[str, str]:
        return self.left, self.right

    @property
    def infos(self) -> tuple[str | None, str | None]:
        return self.left_info, self.right_info

    def all(self) -> list[str]:
        return [topic for topic in (*self.images, *self.infos, self.of_seeds) if topic]

    @property
    def of_seeds(self) -> str | None:
        return self.seeds or self.seed_depth


@dataclass(frozen=True)
class StampedPair:
    """A pair, the stamp and the frame of its left message, and the time at which the pair was complete, by the clock of the bag or the
    node.

    left, right   images of one size, type and number of channels; `colour` is the left image with its colours, if it has any
    cameras       None if they are unknown or not calibrated
    lossy         True if the messages have JPEG images
    mask_left, mask_right   pixels to use, as of Matcher
    seeds         disparities that are known beforehand, as of Matcher; None without a topic of seeds
    """

    stamp: int
    frame_id: str
    received: int
    left: Array
    right: Array
    colour: Array | None
    cameras: Cameras | None
    lossy: bool = False
    mask_left: Array | None = None
    mask_right: Array | None = None
    seeds: Array | None = None

    @property
    def kind(self) -> tuple[object, ...]:
        """Returns the kind of the pair. Pairs of one kind share a plan."""
        return self.left.shape, self.left.dtype.str, self.cameras, self.lossy


@dataclass(frozen=True)
class _Item:
    message: Any
    stamp: int
    received: int


class Infos:
    """The CameraInfo messages of one camera, by stamp."""

    def __init__(self, depth: int) -> None:
        self._by_stamp: OrderedDict[int, Any] = OrderedDict()
        self._depth = depth
        self._follows = False  # each image has a CameraInfo with the same stamp

    def add(self, stamp: int, message: Any) -> None:
        self._by_stamp[stamp] = message
        self._by_stamp.move_to_end(stamp)
        if len(self._by_stamp) > self._depth:
            self._by_stamp.popitem(last=False)

    def of(self, stamp: int, wait: bool) -> tuple[bool, Any]:
        """Returns (True, info), where `info` is the CameraInfo with the image's stamp, else the newest one before the stamp, else the first
        one. Returns (False, None) if the CameraInfo may still arrive.
        """
        if stamp in self._by_stamp:
            self._follows = True
            return True, self._by_stamp[stamp]
        newest = next(reversed(self._by_stamp), None)
        if wait and (newest is None or (self._follows and newest < stamp)):
            return False, None
        before = [at for at in self._by_stamp if at <= stamp]
        chosen = max(before) if before else next(iter(self._by_stamp), None)
        return True, None if chosen is None else self._by_stamp[chosen]


GivenCameras = Callable[[tuple[int, int], bool], Cameras]


class Pairing:
    """Receives messages in the order of their arrival, and returns pairs.

    A faulty message is noted with its topic and stamp, and only the pair of this message is lost. 

    raw         True if the images must be rectified with CameraInfo
    cameras     returns the cameras of images of a size, and whether they are raw, in place of CameraInfo
    tolerance   largest difference of the stamps of both images, in nanoseconds
    queue       number of messages of a topic that wait for messages of the other topics
    masks       pixels to use of the left and the right images, as of Matcher
    awaits_seeds   True if also the first pair waits for its seeds; else pairs wait once seeds have come
    """

    def __init__(
        self,
        topics: Topics,
        notes: Notes,
        raw: bool = False,
        tolerance: int = 0,
        queue: int = 10,
        cameras: GivenCameras | None = None,
        masks: tuple[Array | None, Array | None] = (None, None),
        awaits_seeds: bool = False,
    ) -> None:
        self.topics, self.notes, self._raw, self._given, self._masks = topics, notes, raw, cameras, masks
        self.images: Synchroniser[_Item] = Synchroniser(tolerance, queue)
        self._seeds = SeedMessages(bool(topics.seed_depth), tolerance, 4 * queue, awaits_seeds) if topics.of_seeds else None
        self._infos = tuple(Infos(4 * queue) if topic and cameras is None else None for topic in topics.infos)
        self._pending: deque[tuple[_Item, _Item]] = deque()
        self._queue = queue
        self._cameras: dict[tuple[Camera, Camera], Cameras | None] = {}
        self.broken = 0  # number of pairs that could not be used

    def add(self, topic: str, message: Any, received: int) -> list[StampedPair]:
        """Adds a message of one of the topics. Returns the pairs that the message completes."""
        if topic in self.topics.images:
            stamp = stamp_of(message)
            pair = self.images.add(self.topics.images.index(topic), stamp, _Item(message, stamp, received))
            if pair is not None:
                self._pending.append(pair)
        for side, infos in enumerate(self._infos):
            if infos is not None and self.topics.infos[side] == topic:
                infos.add(stamp_of(message), message)
        if self._seeds is not None and topic == self.topics.of_seeds:
            self._seeds.add(stamp_of(message), message)
        return self._ready(wait=True)

    def flush(self) -> list[StampedPair]:
        """Returns the remaining pairs at the end of the input."""
        self.images.flush()
        return self._ready(wait=False)

    def _ready(self, wait: bool) -> list[StampedPair]:
        made = []
        while self._pending:
            pair = self._pending[0]
            patient = wait and len(self._pending) <= self._queue
            found = [(True, None) if i is None else i.of(m.stamp, patient) for i, m in zip(self._infos, pair, strict=True)]
            if not all(there for there, _ in found) or (patient and self._seeds is not None and self._seeds.may_come(pair[0].stamp)):
                break
            self._pending.popleft()
            stamped = self._stamped(pair, [info for _, info in found])
            if stamped is None:
                self.broken += 1
            else:
                made.append(stamped)
        return made

    def _stamped(self, pair: tuple[_Item, _Item], infos: list[Any]) -> StampedPair | None:
        arrays = [self._array(topic, item) for topic, item in zip(self.topics.images, pair, strict=True)]
        left, right = arrays
        if left is None or right is None:
            return None
        at = f"at {shown(pair[0].stamp)}"
        if left.shape[:2] != right.shape[:2] or left.dtype != right.dtype:
            shapes = " and ".join(f"{a.shape[1]}×{a.shape[0]} {a.dtype}" for a in (left, right))
            topics = " and ".join(self.topics.images)
            self.notes.note("pairs of unequal images", f"{topics} {at} are {shapes}, so the pair is skipped")
            return None
        colour = left if left.ndim == 3 else None
        if left.ndim != right.ndim:
            left, right = grey_of(left), grey_of(right)
        cameras = self._cameras_at(at, infos, (left.shape[1], left.shape[0]))
        if cameras is None and self._raw:
            return None
        first = pair[0]
        received = max(item.received for item in pair)
        frame_id, lossy = first.message.header.frame_id, is_lossy(first.message)
        seeds = self._seeds_of(first, left.shape, cameras)
        return StampedPair(first.stamp, frame_id, received, left, right, colour, cameras, lossy, *self._masks, seeds)

    def _seeds_of(self, first: _Item, shape: tuple[int, ...], cameras: Cameras | None) -> Array | None:
        """Returns the seeds of a pair; unknown ones if there are none."""
        if self._seeds is None:
            return None
        size = (shape[1], shape[0]) if cameras is None or cameras.calibration is None else cameras.rig.size
        at = f"{self.topics.of_seeds} at {shown(first.stamp)}"
        try:
            seeds = self._seeds.of(first.stamp, None if cameras is None else cameras.rig)
            if seeds is not None and seeds.shape == (size[1], size[0]):
                return seeds
            what = "there are none" if seeds is None else f"they are {seeds.shape[1]}×{seeds.shape[0]}, and the matched images {size[0]}×{size[1]}"
        except MALFORMED as error:
            what = str(error)
        self.notes.note("pairs without seeds", f"{at}: {what}; the pair is matched without seeds")
        return np.full((size[1], size[0]), np.nan, np.float32)

    def _array(self, topic: str, item: _Item) -> Array | None:
        try:
            return array_of(item.message)
        except MALFORMED as error:
            self.notes.note(f"{topic}: broken images", f"{topic} at {shown(item.stamp)}: {error}; the image is skipped")
            return None

    def _cameras_at(self, at: str, infos: list[Any], size: tuple[int, int]) -> Cameras | None:
        if self._given is not None:
            return self._given(size, self._raw)
        missing = [side for side, info in zip(SIDES, infos, strict=True) if info is None]
        if missing:
            self._without("pairs without camera_info", f"{at} there is no camera_info of {' and '.join(missing)}")
            return None
        topics = " and ".join(str(topic) for topic in self.topics.infos)
        try:
            left, right = Camera.of(infos[0]), Camera.of(infos[1])
            fault = _fault_of_projections(left, right, self.topics.infos)
            if fault:
                self._without(f"{topics}: no baseline", f"{at} {fault}")
                return None
            cameras = self._known(left, right)
        except MALFORMED as error:
            self._without(f"{topics}: broken", f"{topics} {at}: {error}")
            return None
        if cameras is None:
            self._without(f"{topics}: not calibrated", f"{topics} {at} are all zeros, so nobody has calibrated")
        elif cameras.size != size:
            said = f"of {cameras.size[0]}×{cameras.size[1]} pixels, but the images have {size[0]}×{size[1]}"
            self._without(f"{topics}: of another size", f"{topics} {at} are {said}")
            return None
        return cameras

    def _known(self, left: Camera, right: Camera) -> Cameras | None:
        """Returns the same object for equal cameras, so that there is only one plan for them."""
        if (left, right) not in self._cameras:
            if len(self._cameras) == 8:
                self._cameras.clear()
            self._cameras[left, right] = cameras_of(left, right, self._raw)
        return self._cameras[left, right]

    def _without(self, kind: str, what: str) -> None:
        rest = "the pair cannot be rectified and is skipped" if self._raw else "the pair is matched, without depth"
        self.notes.note(kind, f"{what}; {rest}")


def _fault_of_projections(left: Camera, right: Camera, topics: tuple[str | None, str | None]) -> str:
    """Returns what is wrong with the projection matrices, from which the baseline follows as (P[3] of the left − P[3] of the right) / f;
    empty if nothing is.
    """
    names = " and ".join(map(str, topics))
    way_out = "set it to −f · baseline, or give --focal and --baseline, which `stereopsis bag` takes in place of camera_info"
    if not left.is_calibrated or not right.is_calibrated:
        return ""
    if not left.projection[0] or not right.projection[0]:
        return f"P of {names} is all zeros, but K has the focal length {left.matrix[0]:g}; give --focal {left.matrix[0]:g} --baseline LENGTH to `stereopsis bag`"
    if left.projection[3] == right.projection[3]:
        both = "is" if left.projection[3] == 0 else f"and of {topics[0]} are"
        return f"P[3] of {topics[1]} {both} {right.projection[3]:g}, so the baseline is not known; {way_out}"
    if right.projection[3] > left.projection[3]:
        return (
            f"P[3] of {topics[1]} is {right.projection[3]:g}, as if the right camera were to the left of the left one: its sign is reversed, "
            f"unless the images are reported as swapped; {way_out}"
        )
    return ""
