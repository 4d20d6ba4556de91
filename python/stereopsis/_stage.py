"""The arguments of a user-defined stage, and the order of threads in a matcher with such stages."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import Future
from concurrent.futures.thread import _WorkItem
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import Any

from ._errors import CallError


@dataclass(slots=True)
class StageCall:
    """The arguments of a user-defined stage: NumPy arrays on the CPU, arrays with DLPack on a GPU.

    On the CPU, the arrays are copies, which the stage may keep. On a GPU, they are valid only during the call.

    reference, other   images of the pair, (h, w) or (h, w, 3), as the method uses them. The reference view is the left view, or the
                       right view if `from_right`
    mask_reference, mask_other   (h, w) uint8, 0 for unusable pixels; None if there are no masks
    costs              (h, w, count): input volume of a filter
    made               (h, w, count): output volume of costs and filters. Candidate k of pixel (y, x) of the reference view is pixel
                       (y, x − first − k) of the other view. Low costs are good; 65535, NaN and infinity mark absent candidates
    disparity, validity   maps of a refinement, read and written: (h, w) float32 with NaN where invalid, and uint8. After the stage, NaN
                       or infinity without a reason gets `ambiguous`, and a disparity with a reason becomes NaN
    confidence         (h, w) float32 map of a refinement, if it is requested
    first, count       search range: lowest disparity and number of candidates
    threads            number of CPU threads that the stage may use
    stream             on a GPU, the stream for all work of the stage; None on the CPU
    bit_depth          number of significant low-order bits of the images
    """

    reference: Any
    other: Any
    mask_reference: Any
    mask_other: Any
    costs: Any
    made: Any
    disparity: Any
    validity: Any
    confidence: Any
    first: int
    count: int
    from_right: bool
    threads: int
    stream: int | None
    bit_depth: int = 8


_entered: ContextVar[tuple[Turns, ...]] = ContextVar("stereopsis_entered", default=())
_waiting: dict[int, Turns] = {}  # for each thread, the turns for which it waits
POLL_SECONDS = 0.1


class Turns:
    """Admits one thread at a time to a matcher with Python stages, and rejects calls that would wait forever."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None
        self._token: Token[tuple[Turns, ...]] | None = None

    def __enter__(self) -> None:
        if self in _entered.get():
            raise CallError("the matcher was called inside one of its own stages; use another matcher in the stage")
        me = threading.get_ident()
        _waiting[me] = self
        try:
            while not self._lock.acquire(timeout=POLL_SECONDS):
                if self._waits_for(me):
                    raise CallError(
                        "the matcher was called on a thread for which one of its own stages waits; use another matcher in the stage"
                    )
        finally:
            del _waiting[me]
        self._holder = me
        self._token = _entered.set((*_entered.get(), self))

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _entered.reset(self._token)
        self._token, self._holder = None, None
        self._lock.release()

    def _waits_for(self, me: int) -> bool:
        """Returns whether the thread that may use the matcher next waits for this thread, directly or through others."""
        thread, seen = self._holder, set[int]()
        while thread is not None and thread not in seen:
            if thread == me:
                return True
            seen.add(thread)
            turns = _waiting.get(thread)
            thread = _joined_by(thread) if turns is None else turns._holder
        return False


def _joined_by(thread: int) -> int | None:
    """Returns the thread for which `thread` waits, in Thread.join or in the result of a ThreadPoolExecutor."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code is threading.Thread.join.__code__:
            joined: int | None = frame.f_locals["self"].ident
            return joined
        if frame.f_code is Future.result.__code__:
            return _runner_of(frame.f_locals["self"])
        frame = frame.f_back
    return None


def _runner_of(future: Any) -> int | None:
    for thread, found in sys._current_frames().items():
        frame: Any = found
        while frame is not None:
            if frame.f_code is _WorkItem.run.__code__ and frame.f_locals["self"].future is future:
                return thread
            frame = frame.f_back
    return None
