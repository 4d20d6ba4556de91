"""Videos and cameras. A camera that fails is a stand-in: there is none on a test machine."""

import contextlib
import time

import numpy as np
import pytest
import stereopsis as st

cv2 = pytest.importorskip("cv2", reason="OpenCV reads videos and cameras; ./dev view-test installs it")
from stereopsis.view import capture  # noqa: E402


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
    with pytest.raises(st.FileError, match="can't be opened as a video"):
        capture.Capture(str(tmp_path / "text.avi"))
    with pytest.raises(st.FileError, match="is not there"):
        capture.Capture(str(tmp_path / "none.avi"))
    with pytest.raises(st.FileError, match="can't be opened as a camera"):
        capture.Capture("/dev/video63")


class Camera:
    """In the place of a View: its pictures say their number."""

    live, number, works = True, 0, True

    def grab(self):
        time.sleep(0.001)
        self.number += 1
        if not self.works:
            raise st.FileError("the camera gives no picture any more")

    def picture(self):
        return np.full((4, 6, 3), self.number % 256, np.uint8)


def test_the_newest_picture_of_a_camera_is_taken_and_a_failure_told():
    one, other = Camera(), Camera()
    one.works = False
    newest = capture.Newest([one, other])
    with pytest.raises(st.FileError, match="no picture any more"):
        newest.take()
    one.works = True
    while one.number < 3:
        time.sleep(0.01)
    with contextlib.suppress(st.FileError):  # of before
        newest.take()
    pictures, number = newest.take()
    later, after = newest.take()
    assert after > number and later[0][0, 0, 0] != pictures[0][0, 0, 0]
    newest.close()
