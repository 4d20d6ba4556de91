"""Videos and cameras. A camera that fails is a stand-in: there is none on a test machine."""

import contextlib
import time

import numpy as np
import pytest
import stereopsis as st

cv2 = pytest.importorskip("cv2", reason="OpenCV reads videos and cameras; ./dev view-test installs it")
from stereopsis.view import capture, sources  # noqa: E402
from stereopsis.view.pairing import Pairing  # noqa: E402


@pytest.fixture
def scene():
    return st.synth("table", width=160, height=120, disparities=32)


@pytest.fixture
def video(tmp_path, scene):
    """video(name, image) writes frames, each darker than the one before."""

    def write(name, image, frames=5, rate=20):
        height, width = image.shape[:2]
        writer = cv2.VideoWriter(str(tmp_path / name), cv2.VideoWriter_fourcc(*"MJPG"), rate, (width, height))
        for index in range(frames):
            writer.write(np.ascontiguousarray((image * (1 - 0.1 * index)).astype(np.uint8)[..., ::-1]))
        writer.release()
        return str(tmp_path / name)

    return write


def opened(*given, how=Pairing()):
    return sources.open_sources(given, None, 0, how)[0]


def test_two_videos_are_a_pair(video, scene):
    source = opened(video("left.avi", scene.left), video("right.avi", scene.right, frames=4))
    assert source.length == 4 and source.rate == 20  # a frame without a partner is left out
    first = source.read(0)
    assert abs(first.left.astype(int) - scene.left).mean() < 8 and abs(first.right.astype(int) - scene.right).mean() < 8
    third = source.read(2)
    assert third.left.mean() < 0.85 * first.left.mean()
    np.testing.assert_array_equal(source.read(0).left, first.left)
    source.close()
    np.testing.assert_array_equal(source.read(2).right, third.right)


def test_one_video_has_both_views_side_by_side(video, scene):
    source = opened(video("both.avi", np.concatenate([scene.left, scene.right], axis=1)))
    pair = source.read(0)
    assert pair.left.shape == pair.right.shape == (120, 160, 3)
    found = st.match(np.ascontiguousarray(pair.left), np.ascontiguousarray(pair.right), 32).disparity
    assert np.nanmedian(abs(found - scene.disparity)) < 0.5


def test_what_is_wrong_with_a_video_is_said(tmp_path):
    (tmp_path / "text.avi").write_text("no video")
    with pytest.raises(st.FormatError, match="cannot be decoded as a video"):
        opened(str(tmp_path / "text.avi"))
    with pytest.raises(st.CallError, match="none.avi"):
        opened(str(tmp_path / "none.avi"), str(tmp_path / "none.avi"))
    with pytest.raises(st.FileError, match="cannot be opened as a camera"):
        opened("/dev/video63")
    with pytest.raises(st.CallError, match="text.avi' is no camera"):
        capture.View(str(tmp_path / "text.avi"))


class Camera:
    """In the place of a View: its pictures say their number."""

    live, works, rate = True, True, 20.0

    def __init__(self, late=0.0):
        self.number, self.late, self.stamp = 0, late, 0.0

    def grab(self):
        time.sleep(0.001)
        self.number += 1
        self.stamp = self.number / self.rate + self.late
        if not self.works:
            raise st.FileError("the camera gives no more images")

    def picture(self):
        return np.full((4, 6, 3), self.number % 256, np.uint8)


def test_the_newest_picture_of_a_camera_is_taken_and_a_failure_told():
    one, other = Camera(), Camera()
    one.works = False
    newest = capture.Newest([one, other], Pairing())
    with pytest.raises(st.FileError, match="no more images"):
        newest.take()
    one.works = True
    while one.number < 3:
        time.sleep(0.01)
    with contextlib.suppress(st.FileError):  # the error from before may be raised once more
        newest.take()
    pictures, number, _ = newest.take()
    later, after, _ = newest.take()
    assert after > number and later[0][0, 0, 0] != pictures[0][0, 0, 0]
    newest.close()


def test_cameras_are_paired_by_the_times_of_their_pictures(monkeypatch):
    """The right camera began three pictures earlier and is late by 1 ms: by number they are 149 ms apart."""
    (pictures, _, apart) = one_pair([Camera(), Camera(late=-0.149)], Pairing("number", strict=False))
    assert pictures[0][0, 0, 0] == pictures[1][0, 0, 0] and round(apart, 3) == 0.149
    pictures, _, apart = one_pair([Camera(), Camera(late=-0.149)], Pairing("stamp", strict=True))
    assert pictures[1][0, 0, 0] == pictures[0][0, 0, 0] + 3 and round(apart, 3) == 0.001
    monkeypatch.setattr(capture, "PATIENCE", 0.3)
    with pytest.raises(st.FileError, match="10.0 ms apart, too much for strict synchronisation; switch it off"):
        one_pair([Camera(), Camera(late=0.010)], Pairing("stamp", strict=True))


def one_pair(cameras, how):
    newest = capture.Newest(cameras, how)
    try:
        return newest.take()
    finally:
        newest.close()


def test_videos_of_other_rates_are_paired_by_time(video, scene):
    names = video("fast.avi", scene.left, frames=6, rate=30), video("slow.avi", scene.left, frames=3, rate=15)
    by_number, by_stamp = opened(*names), opened(*names, how=Pairing("stamp"))
    assert by_number.length == by_stamp.length == 3
    one, other = by_number.read(1), by_stamp.read(1)
    np.testing.assert_array_equal(one.left, one.right)  # frames 1 and 1
    assert other.right.mean() > 1.05 * other.left.mean() and other.apart == pytest.approx(0)  # frames 2 and 1
