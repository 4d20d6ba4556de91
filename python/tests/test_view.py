"""The live viewer without a browser: sources, settings, what is served to whom."""

import asyncio
import io
import json
import shlex
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import moving_rig
import numpy as np
import pytest
import stereopsis as st

websockets = pytest.importorskip("websockets", reason="the viewer needs websockets: pip install '.[view]'")
from stereopsis.view import preparation, sources  # noqa: E402
from stereopsis._run import Run  # noqa: E402
from stereopsis.view.engine import Engine, Matchers  # noqa: E402
from stereopsis.view.keep import Keeper  # noqa: E402
from stereopsis.view.messages import plane, rows_message, seen, slots_of, state_message  # noqa: E402
from stereopsis.view.pairing import Pairing  # noqa: E402
from stereopsis.view.probe import Probe, curve  # noqa: E402
from stereopsis.view.server import Page, Viewer  # noqa: E402
from stereopsis.view.settings import Settings, changed  # noqa: E402
from websockets.asyncio.client import connect  # noqa: E402
from websockets.exceptions import InvalidStatus  # noqa: E402


@pytest.fixture
def settings():
    return Settings(st.Pipeline("sgm"), disparities=(0, 32))


@pytest.fixture
def pairs(tmp_path, scene):
    for side in ("left", "right"):
        (tmp_path / side).mkdir()
        image = np.ascontiguousarray(getattr(scene, side))
        for number in (2, 10, 9):
            header = f"P6\n{image.shape[1]} {image.shape[0]}\n255\n".encode()
            (tmp_path / side / f"{side}{number}.ppm").write_bytes(header + image.tobytes())
    return tmp_path


def test_pixels_that_files_mark_as_no_data_are_masked(tmp_path, scene, settings):
    for side in ("left", "right"):
        rgba = np.dstack([getattr(scene, side), np.full(scene.left.shape[:2], 255, np.uint8)])
        rgba[20:40, 60:90, 3] = 0 if side == "left" else 255
        (tmp_path / f"{side}.png").write_bytes(png(rgba))
    frame = sources.open_sources([str(tmp_path / "left.png"), str(tmp_path / "right.png")], None, 0)[0].read(0)
    prepared = preparation.prepare(frame, settings, None)
    assert prepared.masks[1] is None and (prepared.masks[0][20:40, 60:90] == 0).all() and prepared.masks[0].sum() > 0
    validity = Run(matcher=Matchers().of("shown", prepared, settings, [])).one(prepared).result.validity
    assert (validity[20:40, 60:90] & st.validity.masked).all() and not (validity[50:] & st.validity.masked).any()
    swapped = preparation.prepare(frame, replace(settings, swapped=True), None)
    assert swapped.masks[0] is None and swapped.masks[1] is not None
    half = preparation.prepare(frame, replace(settings, resolution="1/2"), None)
    assert (half.masks[0][10:20, 30:45] == 0).all() and (half.masks[0][30:] == 255).all()
    image, mask = st.read_masked_image(tmp_path / "left.png")
    np.testing.assert_array_equal(image, st.read_image(tmp_path / "left.png"))
    np.testing.assert_array_equal(mask, prepared.masks[0])


def test_masks_are_rectified(scene):
    lens = {"fx": 150.0, "fy": 150.0, "cx": 80.0, "cy": 60.0}
    height, width = scene.left.shape[:2]
    cameras = st.Calibration(
        size=(width, height), left=st.Camera(**lens), right=st.Camera(**lens), rotation=np.eye(3).ravel(), translation=(-0.12, 0, 0),
        rig=st.Rig(focal=150, baseline=0.12, cx_left=80, cy=60, unit="m", size=(width, height)),
    )
    mask = np.full((height, width), 255, np.uint8)
    mask[10:20, 30:40] = 0
    *_, left, right = st.Rectification(cameras)(scene.left, scene.right, mask)
    assert right is None and (left[11:19, 31:39] == 0).all() and (left[25:] == 255).all()


def png(rgba):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = rgba.shape
    rows = b"".join(b"\0" + row.tobytes() for row in rgba)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def names_in(source):
    """The numbers in the names of the files of each pair."""
    return [tuple(int("".join(filter(str.isdigit, file.stem))) for file in source.pairs.files(i)) for i in range(source.length)]


def test_files_are_paired_by_number(pairs):
    source = sources.open_sources([str(pairs)], None, 0)[0]
    assert names_in(source) == [(2, 2), (9, 9), (10, 10)]
    assert source.read(0).files == (str(pairs / "left" / "left2.ppm"), str(pairs / "right" / "right2.ppm"))
    patterns = sources.open_sources([str(pairs / "left/left%d.ppm"), str(pairs / "right/*.ppm")], None, 0)[0]
    assert names_in(patterns) == names_in(source)
    (pairs / "right" / "right9.ppm").unlink()
    with pytest.raises(st.CallError, match="left9.ppm has no partner in .*right"):
        sources.open_sources([str(pairs)], None, 0)
    loose = sources.open_sources([str(pairs)], None, 0, Pairing(strict=False))[0]
    assert names_in(loose) == [(2, 2), (10, 10)]
    with pytest.raises(st.CallError, match="nowhere"):
        sources.open_sources([str(pairs / "nowhere")], None, 0)
    with pytest.raises(st.CallError, match="there is no scene 'tabel'"):
        sources.open_sources(["synth:tabel"], None, 0)


def test_a_folder_of_files_with_both_views(tmp_path):
    for number in (1, 2):
        st.write_image(tmp_path / "both.png", np.full((4, 16), number, np.uint8))
        (tmp_path / "both.png").rename(tmp_path / f"{number}.jps")
    source = sources.open_sources([str(tmp_path)], None, 0)[0]
    assert len(source.pairs) == 2 and source.read(1).left.shape == (4, 8) and source.read(1).files is None
    (tmp_path / "none").mkdir()
    with pytest.raises(st.CallError, match="none has no folders left and right"):
        sources.open_sources([str(tmp_path / "none")], None, 0)


def test_files_are_paired_by_their_times(tmp_path, pairs):
    """Names as EuRoC has them, in nanoseconds: 50 ms between pictures, the right ones later by 1 ms; the last ones by 20 ms."""
    for k, number in enumerate((2, 9, 10)):
        time = 1403636579763555584 + 50_000_000 * k
        (pairs / "left" / f"left{number}.ppm").rename(pairs / "left" / f"{time}.ppm")
        (pairs / "right" / f"right{number}.ppm").rename(pairs / "right" / f"{time + (20_000_000 if k == 2 else 1_000_000)}.ppm")
    strict = sources.open_sources([str(pairs)], None, 0, Pairing("stamp", strict=True))[0]
    assert strict.length == 2 and strict.read(1).apart == pytest.approx(0.001)
    loose = sources.open_sources([str(pairs)], None, 0, Pairing("stamp", strict=False))[0]
    assert loose.length == 3 and loose.read(2).apart == pytest.approx(0.02)
    with pytest.raises(st.CallError, match="add --pair stamp"):
        sources.open_sources([str(pairs)], None, 0)


def test_lists_and_pictures_that_hold_both_views(tmp_path, pairs, scene):
    (tmp_path / "list.csv").write_text("left/left10.ppm,right/right2.ppm\nleft/left2.ppm,right/right9.ppm\n")
    listed = sources.open_sources([str(tmp_path / "list.csv")], None, 0)[0]
    assert names_in(listed) == [(10, 2), (2, 9)]
    for name, axis in (("side", 1), ("top", 0)):
        both = np.ascontiguousarray(np.concatenate([scene.left, scene.right], axis=axis))
        (tmp_path / f"{name}.ppm").write_bytes(f"P6\n{both.shape[1]} {both.shape[0]}\n255\n".encode() + both.tobytes())
        halves = sources.Halves(side_by_side=name == "side", top_bottom=name == "top")
        source = sources.open_sources([str(tmp_path / f"{name}.ppm")], None, 0, halves=halves)[0]
        frame = source.read(0)
        np.testing.assert_array_equal(frame.left, scene.left)
        np.testing.assert_array_equal(frame.right, scene.right)
        assert frame.files is None and source.pairing is None
    with pytest.raises(st.CallError, match="add --side-by-side or --top-bottom"):
        sources.open_sources([str(tmp_path / "side.ppm")], None, 0)
    with pytest.raises(st.CallError, match="apply to image files and videos"):
        sources.open_sources(["synth:table"], None, 0, halves=halves)


def test_truth_belongs_to_the_frame_of_its_number(tmp_path, pairs, scene):
    (tmp_path / "truth").mkdir()
    for number in (9, 2):
        st.write_pfm(tmp_path / "truth" / f"t{number}.pfm", scene.disparity + number)
    source = sources.open_sources([str(pairs)], str(tmp_path / "truth"), 0)[0]
    np.testing.assert_array_equal(source.read(0).truth, scene.disparity + 2)
    np.testing.assert_array_equal(source.read(1).truth, scene.disparity + 9)
    assert source.read(2).truth is None


@pytest.fixture
def one_thread():
    """Reads as the viewer does it: bags of sqlite must be opened where they are read."""
    with ThreadPoolExecutor(1) as thread:
        yield lambda function, *arguments: thread.submit(function, *arguments).result()


@pytest.mark.parametrize("storage", ["mcap", "sqlite3", "ros1"])
def test_bags_are_sources_with_their_cameras(tmp_path, settings, one_thread, storage):
    pytest.importorskip("rosbags", reason="bags are read by rosbags")
    from bag_files import FRAME, START, BagFile, generated

    rig = st.Rig(focal=90.0, baseline=0.1, cx_left=48.0, cx_right=48.0, cy=32.0, unit="m", size=(96, 64))
    path, pairs = tmp_path / ("drive.bag" if storage == "ros1" else "drive"), generated(4)
    with BagFile(path, storage) as bag:
        for i, (left, right) in enumerate(pairs):
            bag.pair(START + i * FRAME, left, right, rig)
        bag.image("/stereo/left/image_rect", START + 4 * FRAME, left)  # the last is alone
    source, *generated_scenes = sources.open_sources([str(path)], None, 0)
    assert generated_scenes and round(source.rate, 3) == 10 and source.pairing == Pairing("stamp", True)
    for index in (0, 1, 3, 0, 2):
        frame = one_thread(source.read, index)
        np.testing.assert_array_equal(frame.left, pairs[index][0])
        np.testing.assert_array_equal(frame.right, pairs[index][1])
    ready = preparation.prepare(frame, settings, None)
    assert ready.rig.focal == 90 and abs(ready.rig.baseline - 0.1) < 1e-9 and ready.rig.unit == "m"
    with pytest.raises(st.CallError, match="use --pair stamp"):
        one_thread(source.pair, Pairing("number", True))
    one_thread(source.read, 9)
    assert source.length == 4
    one_thread(source.close)
    np.testing.assert_array_equal(one_thread(source.read, 1).left, pairs[1][0])
    one_thread(source.close)
    with pytest.raises(st.CallError, match="topics of a bag"):
        sources.open_sources(["synth:table"], None, 0, topics=("/left", None))


def test_folders_of_scenes_are_sources_of_their_own(tmp_path, scene):
    for name, (left, right) in {"a": ("left", "right"), "b": ("im0", "im1")}.items():
        (tmp_path / name).mkdir()
        for side, image in ((left, scene.left), (right, scene.right)):
            pixels = np.ascontiguousarray(image)
            (tmp_path / name / f"{side}.ppm").write_bytes(b"P6\n160 120\n255\n" + pixels.tobytes())
    st.write_pfm(tmp_path / "b" / "disp0.pfm", scene.disparity)
    first, second, *generated = sources.open_sources([str(tmp_path)], None, 0)
    assert (first.name, second.name) == ("a", "b") and generated
    np.testing.assert_array_equal(second.read(0).truth, scene.disparity)
    assert first.read(0).truth is None


def test_pictures_of_twelve_bits(tmp_path, settings, scene):
    grey = scene.left.sum(axis=2, dtype=np.uint16) * np.uint16(5)
    for side in ("left", "right"):
        header = b"P5\n160 120\n4095\n"
        (tmp_path / f"{side}.pgm").write_bytes(header + grey.astype(">u2").tobytes())
    source = sources.open_sources([str(tmp_path)], None, 0)[0]
    source.bit_depth = 10
    with pytest.raises(st.CallError, match="12 bits"):
        source.read(0)
    for source.bit_depth in (12, None):
        frame = source.read(0)
        assert frame.bit_depth == 12
    ready = preparation.prepare(frame, settings, None)
    found = Run(matcher=Matchers().of("shown", ready, settings, [])).one(ready).result
    expected = st.match(grey, grey, 32, bit_depth=12)
    np.testing.assert_array_equal(found.disparity, expected.disparity)
    np.testing.assert_array_equal(seen(ready.left, 12), grey >> 4)


def test_pictures_that_can_not_be_read_end_the_viewer_at_once(tmp_path, scene):
    (tmp_path / "right.ppm").write_bytes(b"P6 160 120 255\n" + np.ascontiguousarray(scene.right).tobytes())
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "empty.png").touch()
    for left in ("nowhere.png", "text.png", "empty.png"):
        for pair in ((left, "right.ppm"), ("right.ppm", left)):
            call = [sys.executable, "-m", "stereopsis", "view", *(tmp_path / name for name in pair)]
            done = subprocess.run(call, capture_output=True, text=True, timeout=60)
            assert done.returncode == (2 if left == "nowhere.png" else 1) and done.stdout == "", done
            assert done.stderr.startswith("stereopsis: ") and left in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "about, said",
    [
        ("[" * 100_000 + "]" * 100_000, "nested more than 64 levels"),
        ('{"ndisp": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested more than 64 levels"),
        ('{"ndisp"', "is not valid JSON"),
        ("[1]", "does not describe a scene"),
        ('{"ndisp": "many"}', "does not describe a scene"),
        ('{"ndisp": [1]}', "does not describe a scene"),
    ],
)
def test_a_description_of_a_scene_that_is_none(tmp_path, about, said):
    for name in ("left.png", "right.png"):
        (tmp_path / name).touch()
    (tmp_path / "dataset.json").write_text(about)
    with pytest.raises(st.FormatError, match=f"dataset.json' .*{said}"):
        sources.open_sources([str(tmp_path)], None, 0)


def test_a_port_in_use_is_said(server):
    port = server[0].split(":")[2].split("/")[0]
    call = [sys.executable, "-m", "stereopsis", "view", "synth:table,96x64x16", "--port", port]
    second = subprocess.run(call, capture_output=True, text=True, timeout=60)
    assert second.returncode == 1 and "choose another --port" in second.stderr and "Traceback" not in second.stderr


def test_a_scene_that_moves_keeps_its_truth():
    moving = sources.synthetic("synth:planes,96x64x16,moving")
    first, later = moving.read(0), moving.read(20)
    assert first.left.shape == later.left.shape == (64, 96, 3)
    assert not np.array_equal(first.left, later.left)
    found = st.match(later.left, later.right, 16).disparity
    assert np.nanmedian(np.abs(found - later.truth)) < 0.5


def test_settings_are_new_ones_or_refused(settings):
    other = changed(settings, {"do": "set", "name": "sgm.p1", "value": "12"})
    assert other.pipeline.get("sgm.p1") == 12 and settings.pipeline.get("sgm.p1") == 20
    for message, sentence in [
        ({"do": "set", "name": "sgm.p1", "value": "-1"}, "0 to 4095"),
        ({"do": "set", "name": "sgm.q1", "value": "1"}, "q1"),
        ({"do": "range", "first": 5, "end": 5}, "1 to 4096"),
        ({"do": "resolution", "value": "3/4"}, "1/2"),
        ({"do": "region", "rect": [-1, 0, 5, 5]}, "inside the image"),
        ({"do": "method", "name": "sgn"}, "sgm"),
    ]:
        with pytest.raises(st.CallError, match=sentence):
            changed(settings, message)


def test_the_calibration_beside_a_scene_gives_depth(tmp_path, settings):
    scene = st.synth("table", width=64, height=48, disparities=16)
    for name in ("left", "right"):
        st.write_image(tmp_path / f"{name}.png", getattr(scene, name))
    cameras = "cam0=[100 0 32; 0 100 24; 0 0 1]\ncam1=[100 0 32; 0 100 24; 0 0 1]\ndoffs=0\nbaseline=50\nndisp=16\n"
    (tmp_path / "calib.txt").write_text(cameras + "width=64\nheight=48\n")
    frame = sources.open_sources([str(tmp_path)], None, 0)[0].read(0)
    assert frame.rig.baseline == 50 and preparation.prepare(frame, settings, None).rig.focal == 100
    (tmp_path / "calib.txt").write_text(cameras + "width=128\nheight=96\n")
    other = sources.open_sources([str(tmp_path)], None, 0)[0]
    assert other.read(0).rig is None
    assert "calib.txt is for images of 128×96, and these are 64×48" in other.remark and other.remark.endswith("--calib-scale 0.5")
    (tmp_path / "calib.txt").write_text("nothing")
    with pytest.raises(st.FormatError, match="calib.txt"):
        sources.open_sources([str(tmp_path)], None, 0)


def test_presets_are_methods_until_a_parameter_changes(settings):
    chosen = changed(settings, {"do": "method", "name": "balanced"})
    assert chosen.pipeline == st.Pipeline("balanced") and chosen.preset == "balanced"
    engine = Engine([Changing(None)], chosen, playing=False)
    state = json.loads(state_message(engine, []))
    assert state["method"] == "balanced" and [preset["name"] for preset in state["presets"]] == ["fast", "balanced", "accurate"]
    moved = changed(chosen, {"do": "set", "name": "optimisation.p1", "value": "12"})
    assert moved.preset == "" and changed(chosen, {"do": "method", "name": "sgm"}).preset == ""


def test_the_limits_of_a_slider_are_those_that_the_others_allow(settings, scene):
    engine = Engine([Changing(scene)], replace(settings, disparities=(0, 16), device="cpu"), playing=False)
    pipeline = settings.pipeline
    assert engine.limits("optimisation.p1") == (0, pipeline.get("optimisation.p2_min"))
    assert engine.limits("optimisation.p2")[1] == 4095
    low = engine.limits("optimisation.p2")[0]
    engine.change({"do": "set", "name": "optimisation.p2", "value": str(round(low))})
    with pytest.raises(st.CallError):
        engine.change({"do": "set", "name": "optimisation.p2", "value": str(round(low) - 1)})
    assert engine.limits("speckle.difference") == (0, 100)
    assert engine.limits("select.subpixel") is None and engine.limits("nothing.here") is None


def test_another_stage_fills_a_slot_and_refinements_have_an_order(settings):
    names = [slot["slot"] for slot in slots_of(settings.pipeline)]
    assert names[:8] == ["prepare", "cost", "plus", "aggregation", "optimisation", "select", "second_pass", "levels"]
    other = changed(settings, {"do": "set", "name": "cost.stage", "value": "rank"})
    other = changed(other, {"do": "set", "name": "aggregation.stage", "value": "guided"})
    assert other.pipeline.get("cost.stage") == "rank" and other.pipeline.get("guided.radius") > 0
    before = [slot.slot for slot in settings.pipeline.slots() if slot.is_refinement]
    off = changed(settings, {"do": "set", "name": f"{before[0]}.enabled", "value": "false"})
    longer = changed(off, {"do": "refinements", "names": [*before[1:], before[0], "speckle"]}).pipeline
    assert [slot.stage for slot in longer.slots() if slot.is_refinement][-1] == "speckle"
    assert longer.get("speckle.enabled") and not longer.get(f"{before[0]}.enabled")
    assert changed(off, {"do": "refinements", "names": []}).pipeline.get("refinements") == ()
    with pytest.raises(st.CallError, match="did you mean 'median'"):
        changed(settings, {"do": "refinements", "names": ["medain"]})


def test_a_value_that_contradicts_another_parameter_changes_nothing(settings, scene):
    engine = Engine([Changing(scene)], replace(settings, disparities=(0, 16), device="cpu"), playing=False)
    for shown in (False, True):
        if shown:
            engine.start()
            wait_for(lambda: engine.shown is not None)
        with pytest.raises(st.CallError, match="sgm.p1 = 20 is above sgm.p2 = 5"):
            engine.change({"do": "set", "name": "sgm.p2", "value": "5"})
        assert engine.settings.pipeline == settings.pipeline and not engine.trouble
    # Every end can be reached by moving one slider at a time.
    for name, value in [("sgm.p2_min", "0"), ("sgm.gradient", "0"), ("sgm.p1", "0"), ("sgm.p2", "0")]:
        engine.change({"do": "set", "name": name, "value": value})
    wait_for(lambda: engine.shown.settings.pipeline.get("sgm.p2") == 0)
    assert not engine.trouble
    # Where nothing can run, as after a change of stages, every change is accepted that may lead out of it.
    engine.settings = replace(settings, pipeline=st.Pipeline("sgm").set("sgm.p2", 5), disparities=(0, 16), device="cpu")
    engine.change({"do": "set", "name": "sgm.p1", "value": "3"})
    engine.change({"do": "set", "name": "sgm.p2_min", "value": "4"})
    assert engine.settings.pipeline.get("sgm.p2_min") == 4
    engine.close()


def test_a_change_that_plans_does_not_hold_the_pages(scene, settings):
    """Neither another request of the page, nor a request that needs the engine's lock, waits for a plan."""
    engine = Engine([Changing(scene)], replace(settings, disparities=(0, 16), device="cpu"), playing=False)
    viewer = Viewer(engine, Keeper(engine), "127.0.0.1", 0)
    planning, planned = threading.Event(), threading.Event()

    def plan(_):
        planning.set()
        assert planned.wait(30)

    engine._plan = plan

    async def play():
        page = Page(viewer, None)
        change = asyncio.create_task(page._answer("set", {"do": "set", "name": "sgm.p1", "value": "9"}))
        later = asyncio.create_task(page._answer("set", {"do": "set", "name": "sgm.p1", "value": "10"}))
        await asyncio.to_thread(planning.wait, 30)
        engine.want(page, frozenset({"left"}))
        assert engine.settings.pipeline.get("sgm.p1") == 20
        planned.set()
        await asyncio.gather(change, later)

    asyncio.run(asyncio.wait_for(play(), 20))
    assert engine.settings.pipeline.get("sgm.p1") == 10
    viewer.changes.shutdown()


class Changing:
    """A camera that sends another size, then nothing, then the first size again."""

    name, length, rate, disparities, pairing = "camera", None, 0.0, (0, 16), None

    def __init__(self, scene):
        self.scene, self.read_so_far, self.closed = scene, 0, 0

    def read(self, index):
        self.read_so_far += 1
        if self.read_so_far == 3:
            raise st.FileError("the camera gives no more images")
        part = slice(None, 80 if self.read_so_far == 2 else None)
        return sources.Frame(self.scene.left[part], self.scene.right[part], str(self.read_so_far))

    def close(self):
        self.closed += 1


def wait_for(found):
    end = time.monotonic() + 60
    while not found():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_pair_that_seems_wrong_is_told_until_it_is_put_right(settings, scene):
    class Swapped(Changing):
        length = 1

        def read(self, index):
            return sources.Frame(scene.right, scene.left, "swapped")

    engine = Engine([Swapped(scene)], replace(settings, disparities=(0, 32), device="cpu"), playing=False)
    engine.start()
    wait_for(lambda: engine.fault is not None)
    assert "swapped" in json.loads(state_message(engine, []))["fault"]
    engine.change({"do": "swap", "on": True})
    wait_for(lambda: engine.fault is None)
    engine.close()


def test_a_camera_that_sends_other_sizes_or_nothing(settings, scene, same_bits):
    camera = Changing(scene)
    engine = Engine([camera], replace(settings, disparities=(0, 16), device="cpu"), playing=False)
    engine.start()
    wait_for(lambda: engine.shown is not None)
    engine.change({"do": "step"})
    wait_for(lambda: engine.shown.prepared.frame.name == "2")
    same_bits(engine.shown.result.disparity, st.match(scene.left[:80], scene.right[:80], 16, device="cpu").disparity)
    engine.change({"do": "step"})
    wait_for(lambda: "no more images" in engine.trouble)
    assert engine.shown.prepared.frame.name == "2"
    engine.change({"do": "step"})
    wait_for(lambda: engine.shown.prepared.frame.name == "4" and not engine.trouble)
    same_bits(engine.shown.result.disparity, st.match(scene.left, scene.right, 16, device="cpu").disparity)
    engine.change({"do": "grab", "value": "off"})
    wait_for(lambda: camera.closed == 1)
    engine.change({"do": "grab", "value": "always"})
    wait_for(lambda: int(engine.shown.prepared.frame.name) > 6)
    with pytest.raises(st.CallError, match="off, request, always"):
        engine.change({"do": "grab", "value": "sometimes"})
    with pytest.raises(st.CallError, match="not have two views to pair"):
        engine.pair(Pairing("stamp"))
    engine.close()


def test_a_pixels_costs_are_those_of_the_volumes(settings, scene):
    pipeline = st.Pipeline("sgm").set("aggregation.stage", "box")
    frame = sources.Frame(scene.left, scene.right, "scene")
    engine = Engine([sources.Synthetic("table")], replace(settings, pipeline=pipeline, region=(40, 30, 80, 60), device="cpu"))
    ready = preparation.prepare(frame, engine.settings, None)
    found = Run(matcher=Matchers().of("shown", ready, engine.settings, [])).one(ready).result
    engine.shown = SimpleNamespace(result=found, disparities=(0, 32), prepared=ready, settings=engine.settings)
    states = ["cost", "aggregated", "optimised"]
    volumes = st.match(scene.left, scene.right, 32, pipeline=pipeline, want=states, region=(40, 30, 80, 60), device="cpu")
    answer = Probe(engine).costs(50, 45)
    assert answer["curves"] == {state: curve(getattr(volumes, state)[15, 10]) for state in states}
    assert "outside the region" in Probe(engine).costs(0, 0)["text"]
    engine.shown.settings = replace(engine.settings, pipeline=st.Pipeline("prehn-pyramid"), region=None)
    assert "pyramid" in Probe(engine).costs(50, 45)["text"]
    assert curve(np.array([1.5, np.inf, np.nan], np.float32)) == [1.5, None, None]
    assert curve(np.array([7, 65535], np.uint16)) == [7, None]


def test_without_post_processing_nothing_refines(settings, scene):
    off = changed(settings, {"do": "refine", "on": False}).effective_pipeline()
    plain = st.match(scene.left, scene.right, 32, pipeline=off)
    assert not (plain.validity & (st.validity.filled | st.validity.left_right)).any()
    assert st.Pipeline.from_json(off.to_json()) == off


def test_depth_and_cloud_are_of_measured_pixels_unless_the_settings_fill_them(settings, scene, same_bits):
    rig = st.Rig(focal=100.0, baseline=0.2, cx_left=79.5, cy=59.5, unit="m", size=(160, 120))
    engine = Engine([Changing(scene)], replace(settings, disparities=(1, 33), device="cpu"), rig, playing=False)
    engine.start()
    wait_for(lambda: engine.shown is not None)
    assert engine.shown.result.filled.sum() > 100
    same_bits(plane(engine.shown, "surface")[1], engine.shown.result.measured_disparity)
    depths = [Keeper(engine).make("depth").content]
    engine.change({"do": "fill_depth", "on": True})
    wait_for(lambda: engine.shown.settings.fill_depth)
    same_bits(plane(engine.shown, "surface")[1], engine.shown.result.disparity)
    depths.append(Keeper(engine).make("depth").content)
    measured, filled = (np.isfinite(np.frombuffer(depth[-4 * 160 * 120 :], "<f4")).reshape(120, 160)[::-1] for depth in depths)
    np.testing.assert_array_equal(measured, engine.shown.result.measured)
    np.testing.assert_array_equal(filled, ~np.isnan(engine.shown.result.disparity))
    engine.close()


def test_a_rig_that_moves_is_corrected_and_written(settings, tmp_path):
    given, file = moving_rig.pairs(26), tmp_path / "rig.yml"
    for i, pair in enumerate(given):
        for view, image in zip(("left", "right"), pair):
            st.write_image(tmp_path / f"{view}{i:02}.png", image)
    names = [str(tmp_path / f"{view}*.png") for view in ("left", "right")]
    engine = Engine(sources.open_sources(names, None, 0), replace(settings, disparities=(0, 24), device="cpu"), moving_rig.RIG, track_rig=str(file))
    engine.start()
    wait_for(lambda: engine.shown is not None and engine.shown.index == 25)
    engine.close()
    assert np.degrees(st.read_calibration(file).rotation[7]) == pytest.approx(moving_rig.BUMP[0], abs=0.02)


def test_working_sizes_scale_pictures_range_region_and_rig(settings, scene):
    rig = st.Rig(focal=100.0, baseline=0.2, cx_left=79.5, cy=59.5, unit="m", size=(160, 120))
    frame = sources.Frame(scene.left, scene.right, "scene", scene.disparity)
    half = changed(changed(settings, {"do": "resolution", "value": "1/2"}), {"do": "region", "rect": [40, 20, 41, 40]})
    small = preparation.prepare(frame, half, rig)
    assert small.size == (80, 60) and small.range_of((0, 32)) == (0, 16) and small.range_of((-3, 2)) == (-2, 1)
    assert small.region_of(half.region) == (20, 10, 21, 20)
    assert small.rig.focal == 50 and small.rig.cx_left == 39.5
    mean = scene.left.reshape(60, 2, 80, 2, 3).astype(float).mean(axis=(1, 3))
    np.testing.assert_array_equal(small.left, np.rint(mean))
    assert np.isclose(small.truth[30, 40], scene.disparity[61, 81] / 2)
    box = preparation.prepare(frame, changed(settings, {"do": "resolution", "value": "80×60"}), None)
    np.testing.assert_array_equal(box.left, small.left)


def calibration_text():
    """Returns a calibration as OpenCV writes it: two lenses with little distortion, side by side."""

    def matrix(name, rows, columns, values):
        data = ", ".join(map(str, values))
        return f"{name}: !!opencv-matrix\n   rows: {rows}\n   cols: {columns}\n   dt: d\n   data: [{data}]\n"

    one = [1, 0, 0, 0, 1, 0, 0, 0, 1]
    projection = [150, 0, 80, 0, 0, 150, 60, 0, 0, 0, 1, 0]
    return (
        "%YAML:1.0\n---\nimage_width: 160\nimage_height: 120\n"
        + matrix("M1", 3, 3, [150, 0, 80, 0, 150, 60, 0, 0, 1])
        + matrix("D1", 1, 5, [-0.2, 0.05, 0, 0, 0])
        + matrix("M2", 3, 3, [152, 0, 81, 0, 152, 59, 0, 0, 1])
        + matrix("D2", 1, 5, [-0.18, 0.04, 0, 0, 0])
        + matrix("R", 3, 3, one)
        + matrix("T", 3, 1, [-0.1, 0, 0])
        + matrix("R1", 3, 3, one)
        + matrix("R2", 3, 3, one)
        + matrix("P1", 3, 4, projection)
        + matrix("P2", 3, 4, [*projection[:3], -15, *projection[4:]])
    )


def test_lines_of_rows_follow_a_field():
    field = [[1.5], [-1.5]] * 4
    rows = st.RowAlignment(0.25, 0.5, field=field)
    said = rows_message(st._native.given_rows(rows))
    assert said["text"].endswith("roll 0.50 px, field of 1×8 knots")
    lines = np.array(said["before"])
    assert lines.shape == (15, 33) and lines[7, 32] - lines[7, 0] == pytest.approx(0.5, abs=0.01)
    assert lines[3, 16] == pytest.approx(rows.at(0, -0.25), abs=0.001) != pytest.approx(0.25, abs=0.01)


def test_raw_pairs_are_rectified_as_match_does_it(settings, scene, tmp_path, same_bits):
    (tmp_path / "cameras.yml").write_text(calibration_text())
    cameras = st.read_calibration(tmp_path / "cameras.yml")
    frame = sources.Frame(scene.left, scene.right, "scene")
    ready = preparation.prepare(frame, settings, cameras.rig, cameras)
    whole = st.match(scene.left, scene.right, 32, calibration=cameras, want="rectified")
    same_bits(ready.left, whole.rectified)
    assert whole.row_alignment is not None and ready.rows.alignment == whole.row_alignment and ready.to_align is None
    ours = st.match(ready.left, ready.right, 32, mask_left=ready.masks[0], mask_right=ready.masks[1], align_rows="off")
    same_bits(ours.disparity, whole.disparity)
    as_it_is = preparation.prepare(frame, changed(settings, {"do": "align_rows", "on": False}), cameras.rig, cameras)
    assert as_it_is.rows is None and (as_it_is.right != ready.right).any()
    off = preparation.prepare(frame, changed(settings, {"do": "rectify", "on": False}), cameras.rig, cameras)
    assert off.left is scene.left
    small = sources.Frame(scene.left[:60], scene.right[:60], "half")
    with pytest.raises(st.CallError, match="160×60 pixels, but the calibration is for 160×120"):
        preparation.prepare(small, settings, cameras.rig, cameras)


def test_areas_of_broken_pixels_are_means():
    image = np.arange(10, dtype=np.float32)[None].repeat(7, 0)
    wide = preparation.reduced(image, (4, 3))
    np.testing.assert_allclose(wide[0], [0.8, 3.2, 5.8, 8.2], rtol=1e-6)
    flat = np.full((37, 53), 200, np.uint8)
    assert (preparation.reduced(flat, (20, 11)) == 200).all()


@pytest.fixture
def server(tmp_path):
    """A viewer that runs: (address, process)."""
    call = [sys.executable, "-m", "stereopsis", "view", "synth:table,96x64x16", "--device", "cpu", "--paused"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    yield address, process
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0, process.stderr.read()
    assert "Traceback" not in process.stderr.read()


def status(address, method="GET", **headers):
    try:
        return urllib.request.urlopen(urllib.request.Request(address, method=method, headers=headers), timeout=20).status
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("signals, code", [(1, 0), (2, 130)])
def test_the_viewer_ends_soon_whatever_goes_on(tmp_path, pairs, signals, code):
    """A match that takes a minute and a page that says nothing do not hold the end up; a second Ctrl-C ends at once."""
    (tmp_path / "slow").write_text(f"#!/bin/sh\ntouch {tmp_path}/begun\nexec sleep 60\n")
    (tmp_path / "slow").chmod(0o755)
    method = f"program:{tmp_path}/slow {{left}} {{right}} {{out}}"
    call = [sys.executable, "-m", "stereopsis", "view", str(pairs / "left"), str(pairs / "right"), "--port", "0", "--disparities", "16", "--method", method]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    host, port = address.split("/")[2].rsplit(":", 1)
    with socket.create_connection((host, int(port))):  # half open: it never sends a request
        while not (tmp_path / "begun").exists():
            time.sleep(0.05)
        started = time.monotonic()
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        assert process.wait(timeout=20) == code
    assert time.monotonic() - started < 3


def test_only_who_knows_the_token_gets_in(server):
    address, _ = server
    root = address.rsplit("/", 2)[0]
    assert status(address) == 200 and status(address + "main.js") == 200
    assert status(root + "/") == status(root + "/guess/") == status(root + "/guess/socket") == 403
    assert status(address, Origin="http://elsewhere.example") == 403
    for foreign_host in ("elsewhere.example", "elsewhere.example:80", "localhost.example:80", "localhost:80:80", "", ":80"):
        assert status(address, Host=foreign_host) == 403, foreign_host
    for tunnel in ("localhost:9000", "127.0.0.1:9000", "[::1]:9000", "localhost"):  # ssh -L 9000:localhost:PORT
        assert status(address, Host=tunnel) == 200 and status(address, Host=tunnel, Origin=f"http://{tunnel}") == 200
        assert status(address, Host=tunnel, Origin="http://localhost:1") == 403
    assert all(status(address, method) in (400, 405) for method in ("POST", "PUT", "DELETE"))
    for name in ("../engine.py", "..%2fengine.py", "/etc/passwd", "engine.py"):
        assert status(address + name) in (403, 404)
    page = urllib.request.urlopen(address, timeout=20)
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]

    async def foreign():
        with pytest.raises(InvalidStatus, match="403"):
            await connect(socket_of(address), origin="http://elsewhere.example")

    asyncio.run(foreign())


def socket_of(address):
    return address.replace("http", "ws") + "socket"


async def next_of(page, kind):
    """The next message of a kind: JSON, or a header with its planes."""
    while True:
        message = await asyncio.wait_for(page.recv(), 30)
        if isinstance(message, str):
            found = json.loads(message)
        else:
            length = struct.unpack_from("<I", message)[0]
            found = json.loads(message[4 : 4 + length])
            found["body"] = message[4 + length :]
        if found["kind"] == kind:
            return found


def test_views_are_paired_anew_while_it_runs(pairs):
    (pairs / "right" / "right9.ppm").unlink()
    call = [sys.executable, "-m", "stereopsis", "view", pairs, "--device", "cpu", "--paused", "--no-strict"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()

    async def play():
        async with connect(socket_of(address), max_size=None) as page:
            state = await next_of(page, "state")
            assert state["pairing"] == {"by": "number", "strict": False} and state["playback"]["length"] == 2
            await say(page, do="pairing", by="number", strict=True)
            assert "left9.ppm has no partner" in (await next_of(page, "refused"))["text"]
            await say(page, do="pairing", by="stamp", strict=True)
            while (state := await next_of(page, "state"))["pairing"]["by"] != "stamp":
                pass
            assert state["playback"]["length"] == 2  # 2 s and 10 s; the right view has no picture of 9 s

    asyncio.run(play())
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0, process.stderr.read()


async def say(page, **message):
    await page.send(json.dumps(message))


def test_several_pages_show_the_same_and_one_that_is_cut_harms_nobody(server):
    address, process = server

    async def play():
        async with connect(socket_of(address), max_size=None) as one:
            await say(one, do="ready", have={"disparity": None, "left": None})
            frame = await next_of(one, "frame")
            assert [plane["name"] for plane in frame["planes"]] == ["disparity", "left"]
            scene = st.synth("table", width=96, height=64, disparities=16, noise=2)
            plane = frame["planes"][0]
            shown = np.frombuffer(frame["body"][plane["offset"] : plane["offset"] + plane["bytes"]], np.float32)
            expected = st.match(scene.left, scene.right, 16, device="cpu").disparity
            np.testing.assert_array_equal(shown.reshape(64, 96), expected)
            async with connect(socket_of(address), max_size=None) as two:
                await say(two, do="set", name="sgm.p1", value="9")
                while (await next_of(one, "state"))["revision"] != 1:
                    pass
                two.transport.abort()  # in the midst of what is sent
            await say(one, do="ready", have={plane["name"]: plane["key"] for plane in frame["planes"]})
            following = await next_of(one, "frame")
            assert [plane["name"] for plane in following["planes"]] == ["disparity"]  # the picture is there already
            deep = "[" * 200_000 + "]" * 200_000
            await say(one, do="preset", json=deep)
            assert "nested more than 64 levels" in (await next_of(one, "refused"))["text"]
            for nonsense in ("no json", "[" * 100_000 + "]" * 100_000, "[]", "{}", '{"do": "dance"}', '{"do": "set"}', '{"do": "probe", "x": 1e9, "y": 0}'):
                await one.send(nonsense)
                assert (await next_of(one, "refused"))["text"]
            await say(one, do="keep", what="depth")
            assert "--calib" in (await next_of(one, "refused"))["text"]
            await say(one, do="keep", what="all")
            assert (await next_of(one, "file"))["name"] == "frame.zip"

    asyncio.run(play())
    assert process.poll() is None


def test_a_page_that_is_not_ready_is_sent_nothing_and_then_the_newest():
    call = [sys.executable, "-m", "stereopsis", "view", "synth:table,96x64x16,moving", "--device", "cpu"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()

    async def play():
        async with connect(socket_of(address), max_size=None) as slow, connect(socket_of(address), max_size=None) as quick:
            await say(slow, do="ready", have={"disparity": None})
            first = (await next_of(slow, "frame"))["serial"]
            last = first
            while last < first + 10:
                await say(quick, do="ready", have={"disparity": last})
                last = (await next_of(quick, "frame"))["serial"]
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(next_of(slow, "frame"), 0.2)
            await say(slow, do="ready", have={"disparity": first})
            assert (await next_of(slow, "frame"))["serial"] >= last

    asyncio.run(play())
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0, process.stderr.read()


def test_the_command_line_gives_the_same_bits(server, command, tmp_path, same_bits, monkeypatch):
    address, _ = server

    async def play():
        async with connect(socket_of(address), max_size=None) as page:
            await say(page, do="set", name="sgm.p2", value="60")
            await say(page, do="region", rect=[20, 10, 50, 40])
            await say(page, do="ready", have={"disparity": None})
            while (frame := await next_of(page, "frame"))["revision"] != 2:
                await say(page, do="ready", have={"disparity": 0})
            await say(page, do="command")
            call = (await next_of(page, "command"))["text"]
            await say(page, do="keep", what="all")
            return frame, call, (await next_of(page, "file"))["body"]

    frame, call, body = asyncio.run(play())
    zipfile.ZipFile(io.BytesIO(body)).extractall(tmp_path)
    words = shlex.split(call)
    assert words[:2] == ["stereopsis", "match"] and "optimisation.p2=60" in words
    shown = st.read_pfm(tmp_path / "disparity.pfm").copy()
    monkeypatch.chdir(tmp_path)
    command(*words[1:])
    same_bits(st.read_pfm(tmp_path / "disparity.pfm"), shown)


@pytest.mark.parametrize(
    "address, device, least, most",
    [("127.0.0.1", "cpu", 0.09, 0.1), ("::1", "cpu", 0.09, 0.1), ("127.0.0.1", "cuda:0", 0.02, 1 / 30), ("192.0.2.7", "cpu", 0.02, 1 / 30)],
)
def test_a_page_that_shares_the_cores_gets_ten_frames_a_second(address, device, least, most):
    """The browser of this machine draws with the cores that match, so that fewer frames leave more pairs matched."""
    page = Page(SimpleNamespace(), SimpleNamespace(remote_address=(address, 5000)))

    async def waits(revision):
        found = []
        asyncio.get_running_loop().call_later = lambda wait, call: found.append(wait)
        page._revision, page._sent = 3, time.monotonic()
        page._taken = page._sent + 0.001
        return page._is_early(SimpleNamespace(device=device, revision=revision)), found

    early, (wait,) = asyncio.run(waits(3))
    assert early and least < wait <= most
    assert asyncio.run(waits(4)) == (False, [])  # changed settings
