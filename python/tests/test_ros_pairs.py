"""Tests which messages become pairs, and how the others are counted and reported."""

from types import SimpleNamespace as Message

import numpy as np
import pytest
from stereopsis import ros
from test_ros_messages import image, info

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis draws the messages")
from hypothesis import strategies as draw  # noqa: E402

MS = 10**6
FRAME = 33 * MS


def fed(synchroniser, *messages):
    """(side, stamp) …, to pairs of stamps."""
    pairs = [synchroniser.add(side, stamp, stamp) for side, stamp in messages]
    return [pair for pair in pairs if pair is not None]


def test_equal_stamps_are_a_pair_whichever_comes_first():
    assert fed(ros.Synchroniser(), (0, 1), (1, 1), (1, 2), (0, 2)) == [(1, 1), (2, 2)]


def test_every_tenth_that_is_lost_on_one_side_is_counted_exactly():
    synchroniser = ros.Synchroniser()
    made = []
    for i in range(1000):
        made += fed(synchroniser, (0, i * FRAME))
        if i % 10 != 5:
            made += fed(synchroniser, (1, i * FRAME))
    synchroniser.flush()
    left, right = synchroniser.counts
    assert len(made) == left.paired == right.paired == 900 and all(a == b for a, b in made)
    assert (left.messages, left.alone, left.largest_gap) == (1000, 100, FRAME)
    assert (right.messages, right.alone, right.largest_gap) == (900, 0, 2 * FRAME)
    assert right.gap_after == 4 * FRAME


def test_stamps_may_differ_by_the_tolerance():
    messages = [(0, 0), (1, 3 * MS), (0, FRAME), (1, FRAME + 6 * MS), (1, 2 * FRAME), (0, 2 * FRAME + 5 * MS)]
    assert fed(ros.Synchroniser(), *messages) == []
    assert fed(ros.Synchroniser(5 * MS), *messages) == [(0, 3 * MS), (2 * FRAME + 5 * MS, 2 * FRAME)]


def test_of_several_the_nearest_is_taken():
    assert fed(ros.Synchroniser(10 * MS), (0, 0), (0, 8 * MS), (1, 9 * MS)) == [(8 * MS, 9 * MS)]


def test_what_is_pushed_out_of_the_queue_is_alone():
    synchroniser = ros.Synchroniser(queue=3)
    assert fed(synchroniser, *((0, i) for i in range(5)), (1, 1), (1, 4)) == [(4, 4)]
    assert (synchroniser.counts[0].alone, synchroniser.counts[1].alone) == (4, 1)


def test_nothing_is_paired_across_a_jump_back():
    synchroniser = ros.Synchroniser()
    first = fed(synchroniser, (0, 90), (1, 90), (0, 100))
    again = fed(synchroniser, (0, 10), (1, 10), (0, 100), (1, 100))  # the bag is played again
    assert first == [(90, 90)] and again == [(10, 10), (100, 100)]
    left, right = synchroniser.counts
    assert (left.jumps_back, right.jumps_back, left.alone, left.messages) == (1, 1, 1, 4)


def test_a_stamp_that_comes_twice_is_paired_once():
    synchroniser = ros.Synchroniser()
    assert fed(synchroniser, (0, 5), (0, 5), (1, 5), (1, 5)) == [(5, 5)]
    assert [(c.repeated, c.alone) for c in synchroniser.counts] == [(1, 1), (1, 1)]


@hypothesis.settings(max_examples=300, deadline=None, derandomize=True, database=None)
@hypothesis.given(
    draw.lists(draw.tuples(draw.integers(0, 1), draw.integers(0, 40)), max_size=60), draw.integers(0, 4), draw.integers(1, 5)
)
def test_whatever_comes_every_message_is_counted_once(messages, tolerance, queue):
    synchroniser = ros.Synchroniser(tolerance, queue)
    made = fed(synchroniser, *messages)
    synchroniser.flush()
    assert all(abs(a - b) <= tolerance for a, b in made)
    for side, count in enumerate(synchroniser.counts):
        assert count.messages == sum(s == side for s, _ in messages) == count.paired + count.alone
        assert count.paired == len(made)


TOPICS = ros.Topics("/left/image", "/right/image", "/left/camera_info", "/right/camera_info")


class Rig:
    """Sends messages to a Pairing, and keeps what it says."""

    def __init__(self, topics=TOPICS, **how):
        self.said = []
        self.pairing = ros.Pairing(topics, ros.Notes(self.said.append), **how)
        self.pairs = []

    def send(self, topic, stamp, message):
        seconds, nanoseconds = divmod(stamp, 10**9)
        message.header = Message(stamp=Message(sec=seconds, nanosec=nanoseconds), frame_id="eye")
        self.pairs += self.pairing.add(topic, message, stamp + 1)

    def images(self, stamp, left=None, right=None):
        grey = np.full((480, 640), 7, np.uint8)
        self.send("/left/image", stamp, left or image(grey, "mono8"))
        self.send("/right/image", stamp, right or image(grey, "mono8"))

    def infos(self, stamp, left=None, right=None):
        self.send("/left/camera_info", stamp, left or info())
        self.send("/right/camera_info", stamp, right or info(tx=-60.0))


def test_a_pair_has_its_stamp_frame_and_cameras():
    rig = Rig()
    rig.infos(5)
    rig.images(5)
    (pair,) = rig.pairs
    assert (pair.stamp, pair.frame_id, pair.received, pair.colour) == (5, "eye", 6, None)
    assert pair.cameras.rig.baseline == pytest.approx(0.12) and rig.said == []


def test_camera_info_that_comes_behind_its_images_is_waited_for():
    rig = Rig()
    for stamp in (5, 6):
        rig.images(stamp)
        assert len(rig.pairs) == stamp - 5
        moved = info(roi=Message(x_offset=stamp, y_offset=0, width=640, height=480))
        rig.infos(stamp, moved, info(tx=-60.0))
    assert [pair.cameras.rig.cx_left for pair in rig.pairs] == [315, 314]


def test_camera_info_that_is_sent_once_serves_all():
    rig = Rig()
    rig.infos(1)
    for stamp in range(10, 15):
        rig.images(stamp)
    assert len(rig.pairs) == 5 and len({id(pair.cameras) for pair in rig.pairs}) == 1


def test_without_camera_info_pairs_go_on_with_one_warning():
    rig = Rig(queue=2)
    for stamp in range(6):
        rig.images(stamp)
    rig.pairs += rig.pairing.flush()
    assert len(rig.pairs) == 6 and all(pair.cameras is None for pair in rig.pairs)
    assert len(rig.said) == 1 and "there is no camera_info of left and right; the pair is matched, without depth" in rig.said[0]
    assert rig.pairing.notes.summary() == ["pairs without camera_info: 6 times"]


def test_raw_pairs_that_cannot_be_rectified_are_left_out():
    rig = Rig(raw=True)
    zero = dict(d=[], k=[0.0] * 9, r=[0.0] * 9, p=[0.0] * 12)
    for stamp in range(3):
        rig.infos(stamp, info(**zero), info(**zero))
        rig.images(stamp)
    assert rig.pairs == [] and rig.pairing.broken == 3
    assert len(rig.said) == 1 and "all zeros" in rig.said[0] and "skipped" in rig.said[0]


def test_colour_on_one_side_only_is_matched_in_grey():
    rig = Rig(topics=ros.Topics("/left/image", "/right/image"))
    colours = np.random.default_rng(1).integers(0, 255, (480, 640, 3)).astype(np.uint8)
    rig.images(1, left=image(colours, "rgb8"))
    (pair,) = rig.pairs
    assert pair.left.shape == pair.right.shape == (480, 640)
    np.testing.assert_array_equal(pair.colour, colours)


@pytest.mark.parametrize(
    "change, said",
    [
        (dict(right=image(np.zeros((470, 640), np.uint8), "mono8")), "/left/image and /right/image at 0.000000003 are 640×480 uint8 and 640×470 uint8, so the pair is skipped"),
        (dict(right=image(np.zeros((480, 640), np.uint16), "mono16")), "640×480 uint8 and 640×480 uint16"),
        (dict(left=Message(width=640, height=480, encoding="mono8", is_bigendian=0, step=640, data=b"")), "data has 0 bytes"),
        (dict(left=Message(width=640, height=480, encoding="zzz", is_bigendian=0, step=640, data=b"")), "encoding 'zzz'"),
        (dict(left=Message(width=2**31, height=2**31, encoding="mono8", is_bigendian=0, step=2**31, data=b"")), "size is"),
        (dict(right=Message()), "right/image at 0.000000003"),
    ],
)
def test_a_malformed_image_costs_its_pair_and_one_warning(change, said):
    rig = Rig()
    for stamp in range(1, 6):
        rig.infos(stamp)
        rig.images(stamp, **(change if stamp == 3 else {}))
    assert [pair.stamp for pair in rig.pairs] == [1, 2, 4, 5] and rig.pairing.broken == 1
    assert len(rig.said) == 1 and said in rig.said[0] and "0.000000003" in rig.said[0]


def test_cameras_that_cannot_be_are_said_once_with_topics_and_stamp():
    rig = Rig()
    for stamp in (1, 2, 3):
        rig.infos(stamp, right=info(tx=-60.0, k=[float("nan")] * 9))
        rig.images(stamp)
    rig.infos(4, *(info(tx=tx, width=320, height=240) for tx in (0, -60.0)))
    rig.images(4)
    assert [pair.cameras for pair in rig.pairs] == [None] * 4
    assert len(rig.said) == 2 and "/right/camera_info at 0.000000001: the right camera_info has a number" in rig.said[0]
    assert "are of 320×240 pixels, but the images have 640×480" in rig.said[1]


BYTES = draw.binary(max_size=80)
NUMBERS = draw.sampled_from([0, 1, 2, 7, 8, 2**16, 2**31 - 1, 2**32 - 1])
FLOATS = draw.lists(draw.floats(), max_size=14)


@draw.composite
def strange(draws):
    if draws(draw.booleans()):
        names = draw.sampled_from([*ros.ENCODINGS, "", "mono9", "\0"])
        return Message(width=draws(NUMBERS), height=draws(NUMBERS), encoding=draws(names), step=draws(NUMBERS),
                       is_bigendian=draws(draw.integers(0, 255)), data=draws(BYTES))  # fmt: skip
    return Message(format=draws(draw.text(max_size=20)), data=draws(draw.sampled_from([b"", b"\x89PNG", b"\xff\xd8\xff"])) + draws(BYTES))


@draw.composite
def strange_info(draws):
    matrix = {name: draws(draw.sampled_from([None, FLOATS])) for name in "dkrp"}
    known = {name: draws(floats) for name, floats in matrix.items() if floats is not None}
    roi = Message(x_offset=draws(NUMBERS), y_offset=draws(NUMBERS), width=draws(NUMBERS), height=draws(NUMBERS))
    return info(width=draws(NUMBERS), height=draws(NUMBERS), binning_x=draws(NUMBERS), binning_y=draws(NUMBERS), roi=roi,
                distortion_model=draws(draw.sampled_from(["plumb_bob", "equidistant", "", "x\ny: 1"])), **known)  # fmt: skip


@hypothesis.settings(max_examples=150, deadline=None, derandomize=True, database=None)
@hypothesis.given(strange(), strange(), strange_info(), strange_info(), draw.booleans())
def test_whatever_messages_hold_the_run_goes_on(left, right, left_info, right_info, raw):
    rig = Rig(raw=raw)
    rig.infos(1, left_info, right_info)
    rig.images(1, left, right)
    rig.infos(2)
    rig.images(2)
    assert rig.pairs[-1].stamp == 2 and rig.pairs[-1].cameras is not None
    assert all(len(sentence) < 1000 and "\n" not in sentence for sentence in rig.said)
