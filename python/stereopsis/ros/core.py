"""The engine of the nodes for ROS 1 and ROS 2. The engine receives messages, matches the newest pair and publishes topics that have
subscribers.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .._native import Rectification
from .._rows import short_text
from .._run import LiveSource
from .families import Family
from .health import Health
from .images import Array, grey_of
from .notes import Notes
from .pairs import SIDES, Pairing, StampedPair, Topics
from .processor import PRODUCTS, Matched, Matching, Processor
from .products import Messages
from .results import IMAGE, TOPICS, Results, Shape

NAMES_RAW = Topics("left/image_raw", "right/image_raw", "left/camera_info", "right/camera_info")
NAMES_RECTIFIED = Topics("left/image_rect", "right/image_rect", "left/camera_info", "right/camera_info")
# Topics that each camera has if the images are raw, with stereo_image_proc's names.
IMAGES = ("image_mono", "image_color", "image_rect", "image_rect_color")
DIAGNOSTICS_SECONDS = 1.0
IDLE: tuple[dict[str, str], str, str] = {}, "OK", "nothing has subscribed to the results"


def without(missing: ModuleNotFoundError, ros: str) -> SystemExit:
    """Returns the error with which a node exits if its Python lacks a package of ROS."""
    return SystemExit(
        f"stereopsis: {sys.executable} has no {missing.name}; run the node in an environment where {ros} is set up, with the Python "
        f"version of that ROS"
    )


@dataclass(frozen=True)
class NodeSettings:
    """The settings of a node. The node rectifies images if `raw` is true. `tolerance` is the largest difference of the stamps of a pair, in
    nanoseconds; 0 requires equal stamps. `masks` are the pixels to use of the left and the right images. `seeds` says what the topic
    `seeds` has: disparity, depth, or none.
    """

    matching: Matching
    shape: Shape = field(default_factory=Shape)
    raw: bool = True
    tolerance: int = 0
    queue: int = 5
    masks: tuple[Array | None, Array | None] = (None, None)
    seeds: str = "none"

    @property
    def products(self) -> tuple[str, ...]:
        return PRODUCTS if self.shape.registration is None else (*PRODUCTS, "registered")

    @property
    def inputs(self) -> Topics:
        topics = NAMES_RAW if self.raw else NAMES_RECTIFIED
        of_seeds = {"disparity": "seeds", "depth": "seed_depth"}.get(self.seeds)
        return replace(topics, **{of_seeds: "seeds"}) if of_seeds else topics

    def outputs(self) -> dict[str, str]:
        """The published topics and their types."""
        made = {topic: kind for product in self.products for topic, kind in TOPICS[product].items()}
        if self.raw:
            made.update({f"{side}/{name}": IMAGE for side in SIDES for name in IMAGES})
        return made


class NodeCore:
    """The engine of a node. `send(topic, message)` publishes a message. `listened(topics)` returns the topics that have subscribers.
    `now()` returns the time of the clock that stamps messages, in nanoseconds. `say(text)` logs a warning.
    """

    def __init__(
        self,
        settings: NodeSettings,
        family: Family,
        send: Callable[[str, Any], None],
        listened: Callable[[Iterable[str]], set[str]],
        now: Callable[[], int],
        say: Callable[[str], None],
    ) -> None:
        self._settings, self._send, self._listened, self._now = settings, send, listened, now
        self._messages = Messages(family)
        self.notes = Notes(say)
        self.pairing = self._new_pairing()
        self._processor = Processor(settings.matching, PRODUCTS, self.notes)
        self._rectification: tuple[object, Rectification] | None = None
        self._health, self._since = Health(say), time.monotonic()
        self._rows = ""  # a sentence about the rows of the last pair
        self._receives = False
        self._newest: LiveSource[StampedPair] = LiveSource()
        self._lock = threading.Lock()
        self._closing = False
        self._worker = threading.Thread(target=self._run, name="stereopsis", daemon=True)
        self._worker.start()

    def receive(self, topic: str, message: Any) -> None:
        """Receives a message of one of the input topics. Any thread may call this function."""
        with self._lock:
            for pair in self.pairing.add(topic, message, self._now()):
                self._health.pairs += 1
                self._health.skipped += self._newest.put(pair)

    def lose(self, topic: str, count: int) -> None:
        """Notes messages of an image topic of which the middleware knows that they did not arrive."""
        with self._lock:
            self._health.lose(self.pairing.topics.images.index(topic), count)

    def begin(self) -> None:
        """Expects messages from now on."""
        with self._lock:
            self._receives = True
            self._health.restart()

    def change(self, matching: Matching, shape: Shape) -> None:
        """Changes the settings from the next pair on."""
        with self._lock:
            self._settings = replace(self._settings, matching=matching, shape=shape)

    def pause(self) -> None:
        """Drops waiting messages when there is no subscriber. The waiting messages would be outdated for the next subscriber."""
        with self._lock:
            self._receives = False
            self._newest.clear()
            self.pairing = self._new_pairing()

    def close(self) -> None:
        self._closing = True
        self._newest.clear()
        self._newest.close()
        self._worker.join()
        self._processor.close()
        self._processor.write_rig()

    def _new_pairing(self) -> Pairing:
        s = self._settings
        return Pairing(s.inputs, self.notes, s.raw, s.tolerance, s.queue, masks=s.masks)

    def _run(self) -> None:
        matching = self._settings.matching
        while True:
            pair = self._newest.take(DIAGNOSTICS_SECONDS)
            if self._closing:
                return
            with self._lock:
                settings = self._settings
            if settings.matching is not matching:
                matching = settings.matching
                self._processor.change(matching)
            try:
                if pair is not None:
                    self._work(pair, settings)
                self._diagnose()
            except Exception as error:  # noqa: BLE001 - a node outlives what a pair does to it
                self.notes.note("failures", f"a message could not be processed: {error!r}")

    def _work(self, pair: StampedPair, settings: NodeSettings) -> None:
        begin = time.monotonic()
        wanted = self._listened(settings.outputs())
        self._send_images(pair, wanted)
        products = [product for product in settings.products if wanted & set(TOPICS[product])]
        if products:
            matched = self._processor.one(pair, products)
            if matched is not None:
                self._rows = short_text(matched.result.rows)
                self._send_results(matched, products, wanted, settings.shape)
        self._health.ages.busy += time.monotonic() - begin
        self._health.ages.all.append((self._now() - pair.stamp) / 1e9)

    def _send_results(self, matched: Matched, products: list[str], wanted: set[str], shape: Shape) -> None:
        results = Results(self._messages, shape)
        for product in products:
            for topic, _, message in results.of(matched, product):
                if topic in wanted:
                    self._send(topic, message)
        self._health.matched += 1

    def _send_images(self, pair: StampedPair, wanted: set[str]) -> None:
        header = self._messages.header(pair.stamp, pair.frame_id)
        rectified: tuple[Array, Array] | None = None
        for side, topic in ((i, f"{side}/{name}") for i, side in enumerate(SIDES) for name in IMAGES):
            if topic not in wanted:
                continue
            image = (pair.left if pair.colour is None else pair.colour, pair.right)[side]
            if "rect" in topic:
                rectified = rectified or self._rectified(pair)
                image = rectified[side]
            self._send(topic, self._messages.image(header, image if topic.endswith("color") else grey_of(image)))

    def _rectified(self, pair: StampedPair) -> tuple[Array, Array]:
        if pair.cameras is None or pair.cameras.calibration is None:
            return pair.left, pair.right
        if self._rectification is None or self._rectification[0] is not pair.cameras:
            self._rectification = pair.cameras, Rectification(pair.cameras.calibration)
        left, right, _, _ = self._rectification[1](pair.left, pair.right)
        return left, right

    def _diagnose(self) -> None:
        if time.monotonic() - self._since < DIAGNOSTICS_SECONDS:
            return
        self._since = time.monotonic()
        with self._lock:
            status = self._health.status(self.pairing, self.notes, self._processor.failed) if self._receives else IDLE
        values, level, message = status
        if self._rows:
            values = {**values, "rows": self._rows}
        header = self._messages.header(self._now(), "")
        self._send("/diagnostics", self._messages.diagnostics(header, "stereopsis: stereo pairs", level, message, values))
