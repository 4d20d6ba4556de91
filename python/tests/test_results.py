"""Tests of results: pictures, tables, copies, and the ways to wait for a sequence."""

import asyncio
import base64
import contextlib
import io
import multiprocessing
import pathlib
import pickle
import re
import struct
import sys
import types
import warnings
import zlib

import numpy as np
import pytest
import stereopsis as st


@pytest.fixture(scope="module")
def result():
    scene = st.synth("table", width=160, height=120, disparities=32, noise=2)
    rig = st.Rig(focal=300, baseline=120, unit="mm")
    return st.match(
        scene.left, scene.right, 32, device="cpu", want=["right", "confidence", "depth", "points", "optimised"], rig=rig
    )


def pixels_of(png):
    """(h, w, 3) of a PNG of whole, unfiltered rows."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    file, data, size = io.BytesIO(png[8:]), b"", None
    while header := file.read(8):
        length, name = struct.unpack(">I4s", header)
        body = file.read(length)
        assert struct.unpack(">I", file.read(4))[0] == zlib.crc32(name + body)
        if name == b"IHDR":
            size = struct.unpack(">II", body[:8])
        data += body if name == b"IDAT" else b""
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(size[1], 1 + 3 * size[0])
    assert (rows[:, 0] == 0).all()
    return rows[:, 1:].reshape(size[1], size[0], 3)


def test_pictures(result, command, tmp_path, same_bits):
    picture = result.color()
    assert picture.shape == (120, 160, 3) and picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20
    for what in ("right", "confidence", "depth", "validity"):
        assert result.color(what).shape == (120, 160, 3)
    assert result.color(legend=True).shape[0] > 120
    assert (result.color(low=0, high=31) != result.color(low=0, high=8)).any()
    with pytest.raises(st.OutputError, match=r"has no uncertainty, which was not requested; pass want=\['uncertainty'\], and rig="):
        result.color("uncertainty")
    for what in ("points", "optimised", "times", "shape"):
        with pytest.raises(st.CallError, match=f"the result has no image '{what}'; it has disparity, validity"):
            result.color(what)
    with pytest.raises(st.CallError):
        result.color(low=3, high=3)


def test_pictures_have_the_colours_of_the_maps(result, same_bits):
    names = st.color_maps()
    assert names[0] == "sunset" and {"turbo", "viridis", "magma", "grey"} <= set(names)
    for name in names:
        colors = st.color_map(name)
        assert colors.shape == (256, 3) and colors.dtype == np.uint8
        share = np.clip((result.disparity - 4) / 20, 0, 1)
        expected = colors[np.rint(np.nan_to_num(share) * 255).astype(int)]
        there = np.isfinite(result.disparity)
        found = result.color(low=4, high=24, map=name)
        assert np.abs(found[there].astype(int) - expected[there]).max() <= 6  # a neighbouring entry, where a share is halfway
        assert (found[~there] == 64).all()
    with pytest.raises(st.CallError, match="sunset, turbo"):
        st.color_map("rainbow")
    near, far = np.nanargmin(result.depth), np.nanargmax(result.depth)
    warmth = result.color("depth").reshape(-1, 3).astype(int)
    assert warmth[near, 0] - warmth[near, 2] > warmth[far, 0] - warmth[far, 2], "near points are warm in depths, too"
    hatched = result.color(show_filled=True)
    assert (hatched[result.filled] != result.color()[result.filled]).any(axis=1).mean() > 0.9
    same_bits(hatched[result.measured], result.color()[result.measured])
    same_bits(result.colour(low=1, high=9), result.color(low=1, high=9))


def test_images_are_written_and_read(result, tmp_path, same_bits):
    picture = result.color(legend=True)
    for name in ("a.png", "a.ppm", "a.tiff", "a.npy", "a.webp", "a.jp2"):
        st.write_image(tmp_path / name, picture)
        same_bits(st.read_image(tmp_path / name), picture)
    st.write_image(str(tmp_path / "b.png"), st.Picture(picture[..., ::-1]))
    same_bits(st.read_image(tmp_path / "b.png"), picture[..., ::-1])
    st.write_image(tmp_path / "z.pfm", np.ones((4, 5), np.float32))
    with pytest.raises(st.CallError, match="PNG"):
        st.write_image(tmp_path / "z.png", np.ones((4, 5), np.float32))


def test_the_name_of_a_file_is_no_image(scene):
    for call in (
        lambda: st.match("left.png", scene.right, 32),
        lambda: st.check(scene.left, pathlib.Path("right.png")),
        lambda: list(st.Matcher(disparities=32).stream([("left.png", "right.png")])),
    ):
        with pytest.raises(st.CallError, match=r"st\.read_image\('(left|right)\.png'\)"):
            call()


def test_what_is_measured_and_what_is_filled(scene):
    m = st.Matcher("sgm", disparities=32, device="cpu", region=(20, 10, 100, 80), set={"fill.enabled": True})
    r = m(scene.left, scene.right)
    bits = r.validity
    reasons = st.validity.filled - 1
    for pixels in (r.measured, r.filled, r.repaired):
        assert pixels.shape == (120, 160) and pixels.dtype == bool
    np.testing.assert_array_equal(r.measured, bits == 0)
    assert r.filled.any() and not (r.measured & r.filled).any()
    np.testing.assert_array_equal(r.measured | r.filled | r.repaired, ~np.isnan(r.disparity))
    assert not (r.filled & ((bits & reasons) != 0)).any()
    assert r.measured_share == pytest.approx(r.measured.sum() / 8000)
    assert r.filled_share == pytest.approx(r.filled.sum() / 8000)
    assert r.repaired_share == pytest.approx(r.repaired.sum() / 8000)
    again = pickle.loads(pickle.dumps(r))
    np.testing.assert_array_equal(again.measured, r.measured)
    assert (again.method, again.ms) == (r.method, r.ms) and repr(again) == repr(r)


def test_depth_and_points_are_measured_unless_they_are_filled_on_request(scene, same_bits):
    how = {"disparities": (1, 33), "device": "cpu", "rig": st.Rig(focal=300, baseline=120), "want": ["depth", "points", "uncertainty"]}
    usual, filled = (st.match(scene.left, scene.right, fill_depth=fill, **how) for fill in (False, True))
    assert usual.filled.sum() > 100
    same_bits(filled.disparity, usual.disparity)
    same_bits(filled.validity, usual.validity)
    valid = ~np.isnan(usual.disparity)
    for name in ("depth", "points", "uncertainty"):
        ours, theirs = (np.isfinite(getattr(r, name)).reshape(120, 160, -1).all(axis=2) for r in (usual, filled))
        np.testing.assert_array_equal(ours, usual.measured)
        np.testing.assert_array_equal(theirs, valid)
        same_bits(getattr(usual, name)[usual.measured], getattr(filled, name)[usual.measured])
    np.testing.assert_array_equal(usual.measured_disparity, np.where(usual.measured, usual.disparity, np.nan))


def test_a_result_says_method_time_and_share(scene):
    r = st.match(scene.left, scene.right, 32, "esaw", device="cpu", want="confidence")
    assert r.method == "esaw" and r.ms > 0
    assert repr(r) == f"<result 160×120 by esaw on cpu, {r.ms:.1f} ms, {100 * r.measured_share:.1f} % measured, with confidence>"
    (streamed,) = st.Matcher("sgm", disparities=32, device="cpu").stream([(scene.left, scene.right)])
    assert streamed.method == "sgm" and streamed.ms == pytest.approx(sum(streamed.times.values()))


def test_notebooks_show_the_picture(result, same_bits):
    shown = result._repr_html_()
    picture = re.search(r'src="data:image/png;base64,([^"]+)"', shown)
    same_bits(pixels_of(base64.b64decode(picture[1])), result.color(legend=True))
    assert "160×120" in shown


def test_xarray(result):
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    data = result.to_xarray()
    assert dict(data.sizes) == {"y": 120, "x": 160, "xyz": 3}
    assert data.disparity.attrs["units"] == "pixels" and isinstance(data, xarray.Dataset)
    assert np.shares_memory(data.disparity.values, result.disparity)


def test_evaluate_is_the_commands(result, command, tmp_path):
    import json

    scene = st.synth("table", width=160, height=120, disparities=32, noise=2)
    st.write_pfm(tmp_path / "d.pfm", result.disparity)
    st.write_pfm(tmp_path / "t.pfm", scene.disparity)
    command("evaluate", tmp_path / "d.pfm", "--truth", tmp_path / "t.pfm", "--json", tmp_path / "m.json")
    measured = json.loads((tmp_path / "m.json").read_text())
    found = st.evaluate(result.disparity, scene.disparity)
    told, told_valid = measured["measures"], measured["measures"].pop("valid")
    found_valid = found.pop("valid")
    assert {name: told[name] for name in found} == pytest.approx(found)
    assert {name: told_valid[name] for name in found_valid} == pytest.approx(found_valid)
    assert found_valid["bad1.0"] <= found["bad1.0"] and found_valid["density"] == 100
    half = np.arange(160) < 80
    expected = st.evaluate(result.disparity, scene.disparity, np.tile(half, (120, 1)))
    for left_out in (0, 128):
        mask = np.tile(np.where(half, 255, left_out).astype(np.uint8), (120, 1))
        assert st.evaluate(result.disparity, scene.disparity, mask) == expected
    for wrong, sentence in ((1, "multiply the mask by 255"), (7, "the mask is 7 at 0,0")):
        with pytest.raises(st.CallError, match=sentence):
            st.evaluate(result.disparity, scene.disparity, np.full((120, 160), wrong, np.uint8))
    mask = np.zeros((120, 160), bool)
    assert np.isnan(st.evaluate(result.disparity, scene.disparity, mask)["bad1.0"])
    with pytest.raises(st.CallError):
        st.evaluate(result.disparity, scene.disparity[1:])
    with pytest.raises(st.CallError, match="truth has .* float64"):
        st.evaluate(result.disparity, scene.disparity.astype(float))


def test_results_pipelines_and_matchers_pickle(result, scene, same_bits):
    again = pickle.loads(pickle.dumps(result))
    same_bits(again.disparity, result.disparity)
    assert "uncertainty" not in again and again.times == result.times
    m = st.Matcher("sgm", disparities=(0, 32), set={"sgm.p1": 7}, device="cpu", want="right")
    copy = pickle.loads(pickle.dumps(m))
    assert copy.get_params() == m.get_params()
    same_bits(copy(scene.left, scene.right).right, m(scene.left, scene.right).right)


def matched(pair):
    return st.match(*pair, disparities=32, device="cpu")


def test_processes_that_are_spawned(scene, same_bits):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(matched, [(scene.left, scene.right)] * 3)
    for result in results:
        same_bits(result.disparity, matched((scene.left, scene.right)).disparity)


def test_a_match_is_awaited(scene, same_bits):
    m = st.Matcher("sgm", disparities=32, device="cpu")

    async def work():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        other = asyncio.ensure_future(tick())
        results = await asyncio.gather(*(m.amatch(scene.left, scene.right) for _ in range(4)))
        other.cancel()
        with pytest.raises(st.CallError):
            await m.amatch(scene.left, scene.right[1:])
        return results, ticks

    results, ticks = asyncio.run(work())
    assert ticks > 3
    for result in results:
        same_bits(result.disparity, m(scene.left, scene.right).disparity)


def test_progress_is_told(scene, capsys, monkeypatch):
    m = st.Matcher("sgm", disparities=32, device="cpu")
    pairs = [(scene.left, scene.right)] * 4
    told = []
    list(m.stream(pairs, progress=lambda done, total: told.append((done, total))))
    assert told == [(i, 4) for i in range(1, 5)]
    list(m.stream(iter(pairs), progress=lambda done, total: told.append((done, total))))
    assert told[4:] == [(i, None) for i in range(1, 5)]
    list(m.stream(pairs, progress=True))
    assert capsys.readouterr().err == ""  # no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    list(m.stream(pairs, progress=True))
    shown = capsys.readouterr().err
    assert "4 of 4 pairs" in shown and shown.endswith("\n")


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda truth: truth * 16, "16 times the disparity"),
        (lambda truth: -truth, "-1 times the disparity"),
        (lambda truth: truth[::-1].copy(), "upside down"),
        (lambda truth: truth.byteswap(), "in the other byte order"),
        (lambda truth: np.where(np.arange(160) % 3 == 0, 0, truth).astype(np.float32), "0 where it seems to be unknown"),
        (lambda truth: np.float32(36) / np.maximum(truth, np.float32(0.5)), "one of the two is a depth map"),
    ],
)
def test_evaluate_warns_of_a_truth_that_is_read_wrongly(result, spoil, said):
    truth = st.synth("table", width=160, height=120, disparities=32, noise=2).disparity
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        st.evaluate(result.disparity, truth)
    with pytest.warns(st.TruthWarning, match=said) as caught, contextlib.suppress(st.CallError):  # values beyond 1e6
        st.evaluate(result.disparity, spoil(truth))
    assert caught[0].filename == __file__


# Other tools


@pytest.fixture
def with_points():
    scene = st.synth("table", width=96, height=64, disparities=16)
    rig = st.Rig(focal=90, baseline=0.1, size=(96, 64), unit="m")
    return scene, st.match(scene.left, scene.right, 16, rig=rig, want=["points", "depth", "confidence"])


def test_a_result_draws_itself_with_matplotlib(with_points):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib draws")
    matplotlib.use("agg")
    result = with_points[1]
    axes = result.plot("depth")
    np.testing.assert_array_equal(np.isfinite(axes.images[0].get_array().filled(np.nan)), np.isfinite(result.depth))
    assert axes.images[0].colorbar.ax.get_ylabel() == "depth" and "96×64 by sgm" in axes.get_title()
    assert result.plot(ax=axes) is axes and len(axes.images) == 2
    np.testing.assert_allclose(result.plot("confidence").images[0].get_clim(), np.nanpercentile(result.confidence, [1, 99]), atol=0.02)
    with pytest.raises(st.CallError, match="has no map 'validity'"):
        result.plot("validity")


def test_points_go_to_open3d(with_points, monkeypatch):
    """Open3D is too large for the tests: a stand-in has its functions."""

    class Cloud:
        def __init__(self, points):
            self.points = points

    open3d = types.ModuleType("open3d")
    open3d.geometry = types.SimpleNamespace(PointCloud=Cloud)
    open3d.utility = types.SimpleNamespace(Vector3dVector=lambda array: array)
    monkeypatch.setitem(sys.modules, "open3d", open3d)
    scene, result = with_points
    there = np.isfinite(result.points).all(2)
    cloud = result.to_open3d(scene.left)
    np.testing.assert_array_equal(cloud.points, result.points[there])
    np.testing.assert_allclose(cloud.colors, scene.left[there] / 255)
    assert not hasattr(result.to_open3d(), "colors")
    with pytest.raises(st.CallError, match="it must be the left image"):
        result.to_open3d(scene.left[:3])
    with pytest.raises(st.CallError, match="has no points"):
        st.match(scene.left, scene.right, 16).to_open3d()


def test_results_are_logged_to_rerun(with_points, monkeypatch):
    logged = {}
    rerun = types.ModuleType("rerun")
    for name in ("Image", "DepthImage", "Points3D"):
        setattr(rerun, name, lambda array, name=name, **more: (name, array, more))
    rerun.log = lambda path, what: logged.__setitem__(path, what)
    monkeypatch.setitem(sys.modules, "rerun", rerun)
    scene, result = with_points
    result.to_rerun("camera", scene.left)
    assert {path: what[0] for path, what in logged.items()} == {
        "camera/disparity": "Image", "camera/left": "Image", "camera/depth": "DepthImage", "camera/confidence": "Image", "camera/points": "Points3D"
    }  # fmt: skip
    assert len(logged["camera/points"][1]) == len(logged["camera/points"][2]["colors"]) == np.isfinite(result.depth).sum()


def test_a_missing_package_is_named(with_points, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(st.UnsupportedError, match="rerun-sdk is not installed; run: python -m pip install rerun-sdk"):
        with_points[1].to_rerun()
