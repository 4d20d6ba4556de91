"""Cameras from views of a board, by the user's own OpenCV: the truth of drawn boards, and the command's figures."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import stereopsis as st

W, H, FOCAL, BASELINE = 480, 360, 420.0, 90.0
SIDES = (7, 5)  # inner corners
K = np.array([[FOCAL, 0, W / 2], [0, FOCAL, H / 2], [0, 0, 1]])


@pytest.fixture(scope="module")
def cv2():
    return pytest.importorskip("cv2", reason="OpenCV's Python module is not installed")


def board(cv2, turn, place, shift):
    """Draws the board as seen by the camera at `shift` to the right; squares are 25 mm. The picture is drawn four times
    as large, and reduced."""
    fine = 4
    rotation = cv2.Rodrigues(np.array(turn, float))[0]
    on_board = np.diag([2.5, 2.5, 1.0]) @ np.array([[1, 0, -40], [0, 1, -40], [0, 0, 1.0]])  # 10 pixels a square, a white frame
    to_camera = np.column_stack([rotation[:, 0], rotation[:, 1], np.array(place, float) - (shift, 0, 0)])
    zoom = np.array([[fine, 0, (fine - 1) / 2], [0, fine, (fine - 1) / 2], [0, 0, 1.0]])
    columns, rows = SIDES
    squares = np.add.outer(np.arange(rows + 1), np.arange(columns + 1)) % 2 * 215 + 20
    flat = np.full((80 + 10 * (rows + 1), 80 + 10 * (columns + 1)), 235, np.uint8)
    flat[30 : 30 + 10 * (rows + 1), 30 : 30 + 10 * (columns + 1)] = np.kron(squares, np.ones((10, 10)))
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1.0]])  # from middles of pixels to their corners
    seen = cv2.warpPerspective(
        flat, zoom @ K @ to_camera @ on_board @ half, (fine * W, fine * H), flags=cv2.INTER_NEAREST, borderValue=128
    )
    return cv2.GaussianBlur(cv2.resize(seen, (W, H), interpolation=cv2.INTER_AREA), (0, 0), 0.7)


@pytest.fixture(scope="module")
def views(cv2):
    left, right = [], []
    for i in range(9):
        turn = 0.5 * np.array([np.cos(2.4 * i), np.sin(2.4 * i), 0.1])
        place = (-75 + 90 * (i % 3 - 1) + BASELINE / 2, -50 + 50 * (i // 3 - 1), 430 + 15 * i)
        left.append(board(cv2, turn, place, 0))
        right.append(board(cv2, turn, place, BASELINE))
    return left, right


@pytest.fixture(scope="module")
def found(views):
    return st.calibrate(*views, "chessboard:7x5:25mm")


def test_known_cameras_come_back(found, tmp_path):
    c = found.calibration
    assert c.size == (W, H) and c.rig.unit == "mm"
    assert abs(c.rig.baseline / BASELINE - 1) < 0.005
    for camera in (c.left, c.right):
        assert abs(camera.fx / FOCAL - 1) < 0.01 and abs(camera.cx - W / 2) < 4 and abs(camera.cy - H / 2) < 4
    assert np.allclose(np.reshape(c.rotation, (3, 3)), np.eye(3), atol=0.005)
    assert np.allclose(c.translation, (-BASELINE, 0, 0), atol=1)
    assert found.rms < 0.15 and found.dy_mean < 0.1 and found.coverage_left > 0.25
    assert [view.used for view in found.views] == [True] * 9 and found.views[3].name == "view 3"
    assert st.Rectification(c).complete
    c.write(tmp_path / "rig.yml")
    again = st.read_calibration(tmp_path / "rig.yml")
    assert again.left.distortion == c.left.distortion and again.rig.focal == c.rig.focal
    c.write_camera_info(tmp_path / "l.yaml", tmp_path / "r.yaml")
    assert st.read_calibration(tmp_path / "l.yaml", tmp_path / "r.yaml").rig.unit == "m"


def test_what_is_found_is_told_in_four_lines(found):
    lines = repr(found).split("\n")
    assert len(lines) == 4 and lines[0].startswith("calibrated from 9 of 9 views") and "RMS" in lines[1]
    assert f"{found.dy_mean:.3f} px" in lines[2] and lines[3].endswith("mm")


def test_what_is_found_matches_raw_pairs(found, views, same_bits):
    m = st.Matcher("sgm", disparities=128, calibration=found.calibration, want=["depth", "rectified"], device="cpu")
    r = m(views[0][4], views[1][4])
    middle = r.depth[H // 2 - 20 : H // 2 + 20, W // 2 - 20 : W // 2 + 20]
    assert abs(np.nanmedian(middle) / 490 - 1) < 0.1
    same_bits(r.rectified, st.Rectification(found.calibration)(views[0][4], views[1][4])[0])
    copy = pickle.loads(pickle.dumps(m))
    same_bits(copy(views[0][4], views[1][4]).depth, r.depth)


def test_the_commands_figures(cv2, found, views, command, tmp_path):
    for side, images in zip(("left", "right"), views):
        for i, image in enumerate(images):
            cv2.imwrite(str(tmp_path / f"{side}{i}.png"), image)
    of_files = st.calibrate(str(tmp_path / "left*.png"), str(tmp_path / "right*.png"), "chessboard:7x5:25mm")
    assert of_files.views[3].name == "left3.png"
    assert of_files.rms == pytest.approx(found.rms, rel=1e-6)  # the solver adds up in the order of its threads
    command(
        *("calibrate", "--left", tmp_path / "left*.png", "--right", tmp_path / "right*.png", "--board", "chessboard:7x5:25mm"),
        *("-o", tmp_path / "rig.yml", "--report", tmp_path / "report.json"),
    )
    told = json.loads((tmp_path / "report.json").read_text())
    same_rigs(st.read_calibration(tmp_path / "rig.yml").rig, found.calibration.rig)
    for name in ("rms", "rms_left", "rms_right", "dy_mean", "dy_p95"):
        assert told[name] == pytest.approx(getattr(found, name), abs=1e-4), name
    assert told["coverage_left"] == pytest.approx(found.coverage_left)
    # The package's own command has no module for OpenCV: it hands the call on to the package, which has cv2.
    words = ["calibrate", "--left", tmp_path / "left*.png", "--right", tmp_path / "right*.png", "--board", "chessboard:7x5:25mm"]
    assert "9 of 9 views" in own_command(*words, "-o", tmp_path / "own.yml").stdout
    same_rigs(st.read_calibration(tmp_path / "own.yml").rig, of_files.calibration.rig)


def own_command(*words, code=0, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "stereopsis", *map(str, words)], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == code, done.stderr
    return done


def test_the_own_command_writes_and_reads_videos(cv2, tmp_path):
    scene = st.synth("table", width=101, height=80, disparities=16)
    for side in ("left", "right"):
        (tmp_path / side).mkdir()
        for i in range(3):
            (tmp_path / side / f"{i}.png").write_bytes(st.Picture(getattr(scene, side)).png)
    video = tmp_path / "color.mp4"
    own_command("match", tmp_path / "left", tmp_path / "right", "--disparities", 16, "--color", video)
    assert [file.name for file in tmp_path.glob("*.mp4*")] == ["color.mp4"]
    done = own_command("match", video, video, "--disparities", 8, "-o", tmp_path / "twice")
    assert "3 frames" in done.stdout and len(list((tmp_path / "twice").glob("*.pfm"))) == 3
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(video.read_bytes()[:200])
    done = own_command("check", damaged, damaged, code=1)
    assert done.stderr.count("\n") == 1 and "damaged.mp4 cannot be decoded as a video" in done.stderr


@pytest.mark.parametrize(
    "cv2_is, said",
    [("raise ImportError('none')", "requires OpenCV, and cv2 cannot be imported (none)"), ("__version__ = '4.0'", ", which OpenCV 4.0 lacks")],
)
def test_the_own_command_says_what_is_missing(tmp_path, cv2_is, said):
    (tmp_path / "cv2.py").write_text(cv2_is)
    (tmp_path / "a.png").write_bytes(st.Picture(np.zeros((60, 80), np.uint8)).png)
    (tmp_path / "a.mp4").write_bytes(b"\0\0\0\x18ftypisom\0\0\2\0")
    image, video = tmp_path / "a.png", tmp_path / "a.mp4"
    for words in (
        ("calibrate", "--left", image, "--right", image, "--board", "chessboard:7x5:25mm", "-o", tmp_path / "rig.yml"),
        ("match", video, video, "--disparities", 8, "-o", tmp_path / "out"),
    ):
        done = own_command(*words, code=1, PYTHONPATH=str(tmp_path))
        assert done.stderr.count("\n") == 1 and said in done.stderr and "pip install -U 'opencv-python-headless" in done.stderr


def same_rigs(a, b):
    """Both ways use another version of OpenCV, which finds other first positions of corners."""
    for name in ("focal", "baseline", "cx_left", "cx_right", "cy"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-6), name


def test_a_view_that_does_not_fit_is_left_out(views, cv2):
    left, right = (list(side) for side in views)
    right[4] = np.roll(right[4], 6, axis=0)
    found = st.calibrate(left, right, "chessboard:7x5:25mm")
    assert [view.used for view in found.views] == [i != 4 for i in range(9)]
    assert found.views[4].remark == "outlier, left out" and np.isnan(found.views[4].dy)
    left[2] = np.full((H, W), 128, np.uint8)
    found = st.calibrate(left, right, "chessboard:7x5:25mm", keep_outliers=True)
    assert found.views[2].remark == "no board in the left image" and found.views[4].used


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda l, r: (l[:4], r[:4]), "in 4 of 4 pairs; 5 are required"),
        (lambda l, r: (l, r[1:]), "9 left and 8 right views"),
        (lambda l, r: (r, l), "swap the left and the right images"),
        (lambda l, r: (l[:1] * 6, r[:1] * 6), "the board covers"),
        (lambda l, r: ([i.astype(float) for i in l], r), r"left\[0\] has the shape \(360, 480\) and the type float64"),
        (lambda l, r: (l[:8] + [l[8][1:]], r), "all must have the same size"),
    ],
)
def test_views_that_are_refused(views, spoil, said):
    with pytest.raises(st.CallError, match=said):
        st.calibrate(*spoil(*views), "chessboard:7x5:25mm")


@pytest.mark.parametrize(
    "text", ["", "board", "chessboard", "chessboard:9x6", "chessboard:9x6:0mm", "chessboard:9x6:25km", "chessboard:9:25mm",
             "chessboard:2x6:25mm", "charuco:8x6:30mm", "charuco:8x6:30mm:30mm:DICT_4X4_50", "charuco:8x6:30mm:22:DICT_4X4_50",
             "chessboard:9x6:1.2.3mm"]
)  # fmt: skip
def test_boards_that_are_none(text):
    with pytest.raises(st.CallError, match="board"):
        st.calibrate([], [], text)


def test_lengths_have_units():
    from stereopsis._board import Board

    board = Board.parse("charuco:8x6:0.03m:2.2cm:DICT_4X4_50")
    assert (board.square, board.marker, board.unit) == (0.03, pytest.approx(0.022), "m")
    rig = st.Rig(focal=700, baseline="12cm")
    assert (rig.baseline, rig.unit) == (120, "mm")
    assert rig.range("1m", "500cm") == rig.range(1000, 5000) == st.Rig(focal=700, baseline="120mm", unit="m").range(1, 5)
    with pytest.raises(st.CallError, match="has a unit"):
        st.Rig(focal=700, baseline=0.12).range("1m", "5m")
    with pytest.raises(st.CallError, match="must be a length such as"):
        st.Rig(focal=700, baseline="12 yards")


def test_charuco_boards_are_found_where_a_part_is_hidden(cv2):
    from stereopsis._board import Board

    layout = Board.parse("charuco:8x6:36mm:27mm:DICT_4X4_50")
    assert (layout.columns, layout.rows) == (7, 5)
    if not hasattr(getattr(cv2, "aruco", None), "CharucoDetector"):
        with pytest.raises(st.UnsupportedError, match="a charuco board requires cv2.aruco.CharucoDetector, which OpenCV .* lacks"):
            layout.find(np.zeros((90, 120), np.uint8))
        pytest.skip("OpenCV before 4.7 finds no charuco boards in Python")
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    drawn = cv2.aruco.CharucoBoard((8, 6), 36, 27, dictionary).generateImage((8 * 60, 6 * 60), marginSize=0)
    image = cv2.copyMakeBorder(drawn, 40, 40, 40, 40, cv2.BORDER_CONSTANT, value=255)
    image[40:140, 40:140] = 128  # a thumb
    corners = layout.find(cv2.GaussianBlur(image, (0, 0), 0.8))
    assert 20 < len(corners) < 35
    errors = [np.hypot(x - (39.5 + 60 * (i % 7 + 1)), y - (39.5 + 60 * (i // 7 + 1))) for i, (x, y) in corners.items()]
    assert max(errors) < 0.1
    with pytest.raises(st.CallError, match="dictionary 'DICT_9X9' is not known"):
        Board.parse("charuco:8x6:36mm:27mm:DICT_9X9").find(image)


def test_without_opencv_it_says_what_to_do(monkeypatch, views):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(st.UnsupportedError, match="calibrate requires OpenCV, and cv2 cannot be imported .*pip install -U 'opencv-python-headless"):
        st.calibrate(*views, "chessboard:7x5:25mm")
    with pytest.raises(st.FileError, match="matches no file"):
        st.calibrate("/nowhere/*.png", "/nowhere/*.png", "chessboard:7x5:25mm")
