"""Videos and cameras. A camera that fails is a stand-in: there is none on a test machine."""

import contextlib
import time

import numpy as np
import pytest
import stereopsis as st

cv2 = pytest.importorskip("cv2", reason="OpenCV reads videos and cameras; ./dev view-test installs it")
from stereopsis.view import capture  # noqa: E402
from stereopsis.view.pairing import Pairing  # noqa: E402


@pytest.fixture
def scene():
    return st.synth("table", width=160, height=120, disparities=32)


@pytest.fixture
def video(tmp_path, scene):
    """video(name, image) writes five frames, each darker than the one before."""

    def write(name, image):
        height, width = image.shape[:2]
        writer = cv2.VideoWriter(str(tmp_path / name), cv2.VideoWriter_fourcc(*"MJPG"), 20, (width, height))
        for index in range(5):
            writer.write(np.ascontiguousarray((image * (1 - 0.1 * index)).astype(np.uint8)[..., ::-1]))
        writer.release()
        return str(tmp_path / name)

    return write


def test_two_videos_are_a_pair(video, scene):
    source = capture.Capture(video("left.avi", scene.left), video("right.avi", scene.right))
    assert source.length == 5 and source.rate == 20
    first = source.read(0)
    assert abs(first.left.astype(int) - scene.left).mean() < 8 and abs(first.right.astype(int) - scene.right).mean() < 8
    third = source.read(2)
    assert third.left.mean() < 0.85 * first.left.mean()
    np.testing.assert_array_equal(source.read(0).left, first.left)
    source.close()
    np.testing.assert_array_equal(source.read(2).right, third.right)


def test_one_video_has_both_views_side_by_side(video, scene):
    source = capture.Capture(video("both.avi", np.concatenate([scene.left, scene.right], axis=1)))
    pair = source.read(0)
    assert pair.left.shape == pair.right.shape == (120, 160, 3)
    found = st.match(np.ascontiguousarray(pair.left), np.ascontiguousarray(pair.right), 32).disparity
    assert np.nanmedian(abs(found - scene.disparity)) < 0.5


def test_what_is_wrong_with_a_video_is_said(video, scene, tmp_path):
    other = capture.Capture(video("left.avi", scene.left), video("small.avi", scene.right[:100]))
    with pytest.raises(st.FileError, match="160×120 and 160×100"):
        other.read(0)
    (tmp_path / "text.avi").write_text("no video")
    with pytest.raises(st.FileError, match="cannot be opened as a video"):
        capture.Capture(str(tmp_path / "text.avi"))
    with pytest.raises(st.FileError, match="does not exist"):
        capture.Capture(str(tmp_path / "none.avi"))
    with pytest.raises(st.FileError, match="cannot be opened as a camera"):
        capture.Capture("/dev/video63")


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


def test_videos_of_other_rates_are_paired_by_time():
    by_number = capture.pairs_of_frames([(6, 30.0), (3, 15.0)], Pairing("number"))
    by_stamp = capture.pairs_of_frames([(6, 30.0), (3, 15.0)], Pairing("stamp"))
    assert by_number == [(0, 0), (1, 1), (2, 2)] and by_stamp == [(0, 0), (2, 1), (4, 2)]
