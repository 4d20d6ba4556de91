"""Pairs that PairSource finds and reads, as the command does."""

import sys

import numpy as np
import pytest
import stereopsis as st


@pytest.fixture
def sequence(tmp_path):
    """Frames 1, 2 and 10 in left/, 2, 10 and 11 in right/; a frame's pixels are its number, and 100 more on the right."""
    for side, numbers in (("left", (1, 2, 10)), ("right", (2, 10, 11))):
        (tmp_path / side).mkdir()
        for number in numbers:
            value = number + (100 if side == "right" else 0)
            (tmp_path / side / f"{side}{number}.pgm").write_bytes(b"P5\n4 2\n255\n" + bytes([value]) * 8)
    return tmp_path


def values(pairs):
    return [(int(pair.left[0, 0]), int(pair.right[0, 0])) for pair in pairs]


def test_a_source_is_a_sequence_of_pairs(sequence):
    source = st.PairSource(sequence, keep_going=True)
    assert len(source) == 2 and source.is_sequence and source.rate == 0
    assert values(source) == values(source[:]) == [(2, 102), (10, 110)] and values([source[-1]]) == [(10, 110)]
    assert source.dropped == [str(sequence / "left/left1.pgm"), str(sequence / "right/right11.pgm")]
    assert source.files(1) == source[1].files == (sequence / "left/left10.pgm", sequence / "right/right10.pgm")
    pair = source[0]
    assert pair.mask_left is None and pair.mask_right is None and pair.bit_depth == 0 and pair.seconds_apart is None
    assert pair.name == str(sequence / "left/left2.pgm")
    with pytest.raises(IndexError, match="no pair 2"):
        source[2]
    with pytest.raises(st.CallError, match="keep_going skips images without a partner"):
        st.PairSource(sequence / "left", sequence / "right")


def test_pairs_by_time_stamp(sequence):
    (sequence / "left/timestamps.txt").write_text("0.0\n0.1\n0.2\n")
    (sequence / "right/timestamps.txt").write_text("0.001\n0.13\n0.2\n")
    assert [round(pair.seconds_apart, 9) for pair in st.PairSource(sequence, pair="stamp")] == [0.001, 0.03, 0]
    for slop in ("5ms", "5%", 0.005):
        assert values(st.PairSource(sequence, pair="stamp", slop=slop)) == [(1, 102), (10, 111)]
    for wrong in ({"pair": "name"}, {"pair": "stamp", "slop": "soon"}, {"pair": "stamp", "slop": -1}, {"slop": "5ms"}, {"side_by_side": True, "top_bottom": True}):
        with pytest.raises(st.CallError):
            st.PairSource(sequence, **wrong)


def test_masks_bits_and_halves(tmp_path):
    image = np.arange(16, dtype=np.float32).reshape(2, 8)
    image[0, 1] = np.nan
    st.write_pfm(tmp_path / "both.pfm", image)
    (pair,) = st.PairSource(tmp_path / "both.pfm", side_by_side=True)
    np.testing.assert_array_equal(pair.mask_left, [[255, 0, 255, 255], [255] * 4])
    assert pair.mask_right is None and pair.right[1].tolist() == [12, 13, 14, 15]
    for name, largest in (("left", 4095), ("right", 4095), ("other", 1023)):
        (tmp_path / f"{name}.pgm").write_bytes(f"P5\n4 2\n{largest}\n".encode() + b"\x00\x01" * 8)
    assert st.PairSource(tmp_path / "left.pgm", tmp_path / "right.pgm")[0].bit_depth == 12
    with pytest.raises(st.CallError, match="12 bits, and its partner has 10"):
        st.PairSource(tmp_path / "left.pgm", tmp_path / "other.pgm")[0]


def test_files_beside_the_pairs(sequence):
    for number in (10, 3):
        st.write_pfm(sequence / f"t{number}.pfm", np.zeros((2, 4), np.float32))
    source = st.PairSource(sequence, keep_going=True)
    assert source.files_beside(sequence / "t*.pfm") == [None, sequence / "t10.pfm"]


def test_videos_need_opencv(tmp_path, monkeypatch):
    (tmp_path / "left.mp4").touch()
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(st.UnsupportedError, match="the video .*left.mp4 requires OpenCV.*pip install"):
        st.PairSource(tmp_path / "left.mp4", side_by_side=True)


def test_videos_are_decoded_by_opencv(tmp_path):
    cv2 = pytest.importorskip("cv2", reason="OpenCV decodes videos: pip install opencv-python-headless")
    frames = [np.full((64, 128, 3), 40 * (i % 5), np.uint8) for i in range(50)]
    for frame in frames:
        frame[:, 64:, 2] += 50  # red on the right
    writer = cv2.VideoWriter(str(tmp_path / "both.avi"), cv2.VideoWriter_fourcc(*"MJPG"), 12, (128, 64))
    for frame in frames:
        writer.write(frame)
    writer.release()
    source = st.PairSource(tmp_path / "both.avi", side_by_side=True)
    assert len(source) == 50 and source.rate == 12 and source[3].name == f"frame 3 of {tmp_path / 'both.avi'}"
    for i in (0, 1, 49, 3, 44):
        pair = source[i]
        assert abs(pair.left.mean() - 40 * (i % 5)) < 4 and pair.right[..., 0].mean() - pair.right[..., 2].mean() > 30
    (tmp_path / "bad.avi").write_bytes(b"RIFF this is no video")
    with pytest.raises(st.FormatError, match="cannot be decoded as a video"):
        st.PairSource(tmp_path / "bad.avi", tmp_path / "bad.avi")


def test_views_in_one_file(tmp_path):
    st.write_pfm(tmp_path / "both.pfm", np.arange(16, dtype=np.float32).reshape(2, 8))
    (tmp_path / "both.pfm").rename(tmp_path / "both.jps")  # by convention, the right view is the left half
    for options, first in (({}, 4), ({"right_first": True}, 0), ({"side_by_side": True}, 0), ({"side_by_side": True, "right_first": True}, 4)):
        (pair,) = st.PairSource(tmp_path / "both.jps", **options)
        assert pair.left[0, 0] == first and pair.right[0, 0] == 4 - first
    with pytest.raises(st.CallError, match="--right-first applies to files that hold both views"):
        st.PairSource(tmp_path / "both.jps", tmp_path / "both.jps", right_first=True)
    assert st.read_image(tmp_path / "both.jps[0]").shape == (2, 8)
    with pytest.raises(st.FormatError, match=r"there is no picture \[1\]"):
        st.read_image(tmp_path / "both.jps[1]")
