"""Tests the actions of a person on the page by what it shows and what the engine computes."""

import json
import pathlib
import time

import numpy as np
import pytest
import stereopsis as st
from selenium.webdriver.common.keys import Keys


def test_somebody_decides_whether_this_works_for_their_cameras(view, sequence, command, tmp_path):
    page = view(sequence / "left", sequence / "right", "--disparities", 32, "--paused")
    assert page.script("return document.getElementById('place').textContent") == "1 of 4"
    first = page.plane("disparity")

    page.choose("#method", "banz-sgm")
    page.settle()
    assert not np.array_equal(page.plane("disparity"), first, equal_nan=True)
    assert page.find('[data-slot="cost"] small').text == "rank"

    page.enter('[data-parameter="optimisation.p1"] input[type=number]', 5)
    page.settle()
    assert page.find('[data-parameter="optimisation.p1"]').get_attribute("data-changed") is not None

    page.find('[data-parameter="optimisation.p1"] .reset').click()
    page.settle()
    page.script("const s = document.querySelector('[data-parameter=\"optimisation.p1\"] input[type=range]'); s.value = 0.42; s.dispatchEvent(new Event('input'))")
    page.settle()
    moved = page.script("return document.querySelector('[data-parameter=\"optimisation.p1\"] input[type=number]').value")

    page.click('[data-keep="preset"]')
    preset = tmp_path / "preset.json"
    preset.write_bytes(page.downloaded("preset.json"))
    assert str(json.loads(preset.read_text())["optimisation"]["p1"]) == moved
    left, right = sequence / "left" / "000.ppm", sequence / "right" / "000.ppm"
    out = tmp_path / "d.pfm"
    command("match", left, right, "-o", out, "--pipeline", preset, "--min-disparity", 0, "--disparities", 32, "--device", "cpu", "--quiet")
    assert np.array_equal(page.plane("disparity"), st.read_pfm(out), equal_nan=True)

    page.click("#forward")
    page.wait_for(lambda: page.script("return viewer.frame.index") == 1, "the second pair")
    assert page.script("return document.getElementById('place').textContent") == "2 of 4"
    assert page.complaints() == []
    own = (page.address, page.address.replace("http", "ws"), "blob:", "data:")
    assert [address for address in page.requests() if not address.startswith(own)] == []


def test_a_region_swapped_cameras_and_half_the_size(view):
    page = view("synth:table,240x160x32", "--paused")
    whole = page.plane("disparity")
    page.drag(0, (60, 40), (160, 120), shift=True)
    page.wait_for(lambda: page.script("return Boolean(viewer.frame.region)"), "a region")
    x, y, w, h = page.script("return viewer.frame.region")
    assert abs(x - 60) <= 2 and abs(y - 40) <= 2 and abs(w - 100) <= 3 and abs(h - 80) <= 3
    validity = page.plane("validity")
    assert (validity[:y] & st.validity.outside).all() and not (validity[y : y + h, x : x + w] & st.validity.outside).any()
    page.click("#region")
    page.settle()
    assert np.array_equal(page.plane("disparity"), whole, equal_nan=True)

    page.click("#swap")
    page.settle()
    assert not np.array_equal(page.plane("disparity"), whole, equal_nan=True)
    page.click("#swap")

    page.choose("#resolution", "1/2")
    page.settle()
    half = page.plane("disparity")
    assert half.shape == (80, 120)
    scene = st.synth("table", width=240, height=160, disparities=32, noise=2)

    def reduced(image):
        return np.rint(image.reshape(80, 2, 120, 2, 3).astype(float).mean(axis=(1, 3))).astype(np.uint8)

    expected = st.match(reduced(scene.left), reduced(scene.right), 16, device="cpu").disparity
    assert np.array_equal(half, expected, equal_nan=True)
    assert page.script("return viewer.frame.disparities") == [0, 16]


def test_a_pixel_says_where_its_disparity_comes_from(view):
    page = view("synth:table,240x160x32", "--paused")
    disparity, truth = page.plane("disparity"), page.plane("truth")
    y, x = np.argwhere(np.isfinite(disparity) & (np.abs(disparity - truth) < 0.3))[5000]
    page.point(1, int(x), int(y), click=True)
    page.wait_for(lambda: page.script("return Boolean(viewer.costs?.curves?.optimised)"), "the curve of costs")
    px, py = page.script("return [viewer.pixel.x, viewer.pixel.y]")
    text = page.find("#readout").text
    assert text.startswith(f"{px}, {py} (held): {disparity[py, px]:.2f} px")
    assert f"truth {truth[py, px]:.2f}" in text
    scene = st.synth("table", width=240, height=160, disparities=32, noise=2)
    expected = st.match(scene.left, scene.right, 32, device="cpu", want=["cost", "optimised"])
    curves = page.script("return viewer.costs.curves")
    assert curves["cost"] == expected.cost[py, px].tolist()
    assert curves["optimised"] == expected.optimised[py, px].tolist()
    assert len(page.driver.find_elements("css selector", "#curve polyline")) == 2


def test_a_sequence_plays(view, sequence):
    page = view(sequence / "left", sequence / "right", "--disparities", 32)
    page.wait_for(lambda: "–" not in page.find("#rates").text.split(), "rates of grabbing, matching, showing")
    page.script("window.seen = new Set(); viewer.on('frame', () => window.seen.add(viewer.frame.index))")
    page.wait_for(lambda: page.script("return window.seen.size") == 4, "every pair, again and again")
    page.press(" ")
    page.wait_for(lambda: page.script("return !viewer.state.playback.playing"), "a pause")
    page.wait_for(lambda: set(page.find("#rates").text.split()[1::2]) == {"–"}, "no rates of what stands still")
    page.script("const p = document.getElementById('position'); p.value = 2; p.dispatchEvent(new Event('input'))")
    page.wait_for(lambda: page.find("#place").text == "3 of 4", "the third pair")
    page.click("#repeat")
    page.choose("#speed", "60")
    page.wait_for(lambda: page.script("return viewer.state.playback.speed === 60 && !viewer.state.playback.repeat"), "the speed")
    page.click("#play")
    page.wait_for(lambda: page.script("return viewer.frame.index === 3 && !viewer.state.playback.playing"), "the end")
    assert page.find("#pair-by").is_displayed() and page.find("#strict").is_selected()
    page.choose("#pair-by", "stamp")
    page.wait_for(lambda: page.find("#apart").text == "0.0 ms apart", "pairs by time")
    scene = page.find("#source option:nth-child(2)").text
    page.choose("#source", "1")
    page.wait_for(lambda: page.script("return `synth: ${viewer.frame.name}`") == f"{scene} 0", "the scene that was chosen")
    assert not page.find("#pair-by").is_displayed()


def test_cameras_are_grabbed_and_what_is_wrong_with_them_is_said(view, tmp_path):
    does = tmp_path / "camera"
    does.write_text("well")
    standin = pathlib.Path(__file__).parent / "standin_cameras.py"
    page = view("/dev/video0", "/dev/video1", "--disparities", 16, program=(standin, does))
    assert page.find("#grab").is_displayed() and not page.find("#position").is_displayed()
    serial = "return viewer.frame.serial"
    page.choose("#grab", "request")
    page.wait_for(lambda: page.script("return !viewer.state.playback.playing"), "no more pairs by themselves")
    time.sleep(1)  # a pair that was being matched may still arrive
    before = page.script(serial)
    time.sleep(0.3)
    assert page.script(serial) == before
    page.click("#forward")
    page.wait_for(lambda: page.script(serial) == before + 1, "the pair that was asked for")
    page.choose("#grab", "off")
    page.wait_for(does.with_suffix(".closed").exists, "cameras that are let go")
    page.choose("#grab", "always")
    page.wait_for(lambda: page.script(serial) > before + 3, "pairs again")
    does.write_text("small")
    page.wait_for(lambda: page.script("return viewer.frame.size.join()") == "160,80", "pictures of another size")
    assert not page.notice()
    does.write_text("unlike")
    page.wait_for(lambda: "160×80 and 160×120" in page.notice(), "the sentence about sizes")
    does.write_text("gone")
    page.wait_for(lambda: "no more images" in page.notice(), "the sentence about a camera that is gone")
    assert np.isfinite(page.plane("disparity")).mean() > 0.5
    does.write_text("well")
    page.wait_for(lambda: page.script("return viewer.frame.size.join()") == "160,120" and not page.notice(), "the cameras again")


def test_a_video_of_raw_cameras_is_rectified_and_not(view, tmp_path):
    cv2 = pytest.importorskip("cv2", reason="OpenCV reads videos; ./dev view-test installs it")
    scene, file = st.synth("table", width=160, height=120, disparities=32), str(tmp_path / "both.avi")
    writer = cv2.VideoWriter(file, cv2.VideoWriter_fourcc(*"MJPG"), 20, (320, 120))
    for _ in range(3):
        writer.write(np.ascontiguousarray(np.hstack([scene.left, scene.right])[..., ::-1]))
    writer.release()
    bent = st.Camera(fx=150, fy=150, cx=80, cy=60, distortion=[-0.2, 0.05, 0, 0])
    rig = st.Rig(focal=150, baseline=0.1, cx_left=80, cy=60, unit="m", size=(160, 120))
    cameras = st.Calibration(size=(160, 120), left=bent, right=bent, rotation=[1, 0, 0, 0, 1, 0, 0, 0, 1], translation=[-0.1, 0, 0], rig=rig)
    cameras.write(tmp_path / "cameras.yml")
    page = view(file, "--calib", tmp_path / "cameras.yml", "--raw", "--disparities", 32, "--paused")
    rectified = page.plane("left")
    page.click("#rectify")
    page.settle()
    decoded = cv2.VideoCapture(file).read()[1][:, :160, ::-1]
    assert np.array_equal(page.plane("left"), decoded) and (rectified != decoded).mean() > 0.3
    page.click("#forward")
    page.wait_for(lambda: page.find("#place").text == "2 of 3", "the second picture of the video")


def test_another_stage_fills_a_slot(view):
    page = view("synth:table,240x160x32", "--paused")
    page.choose('[aria-label="cost.stage"]', "rank")
    page.settle()
    page.click('[data-slot="aggregation"] summary')
    page.choose('[aria-label="aggregation.stage"]', "box")
    page.settle()
    page.choose("#add-refinement", "weighted_median")
    page.settle()
    page.script("document.querySelector('[aria-label=\"Remove speckle\"]').click()")
    page.settle()
    assert page.find('[data-slot="cost"] small').text == "rank" and page.find('[data-slot="aggregation"] small').text == "box"
    assert not page.driver.find_elements("css selector", '[data-slot="speckle"]')
    page.click('[data-keep="preset"]')
    preset = st.Pipeline.from_json(page.downloaded("preset.json").decode())
    scene = st.synth("table", width=240, height=160, disparities=32, noise=2)
    expected = st.match(scene.left, scene.right, 32, pipeline=preset, device="cpu").disparity
    assert np.array_equal(page.plane("disparity"), expected, equal_nan=True)

    page.script("viewer.link.socket.close()")
    page.wait_for(lambda: "does not answer" in page.notice(), "the sentence about a connection that is cut")
    page.wait_for(lambda: not page.notice(), "the connection again")
    page.choose('[aria-label="aggregation.stage"]', "none")
    page.settle()
    assert not np.array_equal(page.plane("disparity"), expected, equal_nan=True)
    assert page.complaints() == []


def test_pinned_settings_are_compared(view):
    page = view("synth:table,240x160x32", "--paused")
    before = page.plane("disparity")
    page.press("c")
    page.settle()
    page.enter('[data-parameter="optimisation.p2"] input[type=number]', 40)
    page.settle()
    page.wait_for(lambda: page.script("return Boolean(viewer.planes.pinned)"), "the pinned result")
    assert np.array_equal(page.plane("pinned"), before, equal_nan=True)
    now = page.plane("disparity")
    assert not np.array_equal(now, before, equal_nan=True)
    page.wait_for(lambda: "equal" in page.find("#figures").text, "the figures of both")
    rows = {row.find_element("css selector", "th").text: [cell.text for cell in row.find_elements("css selector", "td")]
            for row in page.driver.find_elements("css selector", "#figures tr")[1:]}  # fmt: skip
    truth = st.synth("table", width=240, height=160, disparities=32, noise=2).disparity
    for map_, shown in zip((now, before), rows["off by > 1 px"]):
        wrong = 100 * np.mean(~(np.abs(map_ - truth) <= 1))
        assert shown == f"{wrong:.2f} %"
    assert len(page.driver.find_elements("css selector", "#differences rect")) > 2
    assert "optimisation.p2 = 100" in page.find(".pane:nth-of-type(2) .note").text
    page.script("viewer.look_at({views: ['left', 'difference', 'cloud', 'validity']})")
    y, x = np.unravel_index(np.nanargmax(np.where(np.isfinite(now - before), now - before, -1)), now.shape)
    red, _, blue = page.colours(1)[y, x]
    assert red > blue + 40, "larger disparities than the pinned ones are red"


def test_presets_and_sliders_that_stay_within_what_is_allowed(view):
    page = view("synth:table,240x160x32", "--paused")
    page.choose("#method", "balanced")
    page.settle()
    assert page.script("return viewer.state.method") == "balanced"
    page.script("document.querySelector('[data-parameter=\"optimisation.p1\"] input[type=range]').dispatchEvent(new Event('pointerenter'))")
    page.wait_for(lambda: page.script("return viewer.limits.has('optimisation.p1')"), "the limits")
    most = page.script("return viewer.limits.get('optimisation.p1')[1]")
    page.script("const s = document.querySelector('[data-parameter=\"optimisation.p1\"] input[type=range]'); s.value = 1; "
                "s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change'))")  # fmt: skip
    page.settle()
    found = {p["name"]: p["value"] for slot in page.script("return viewer.state.slots") for p in slot["parameters"]}
    assert int(found["optimisation.p1"]) == most and page.notice() == ""
    assert page.script("return viewer.state.method") == "sgm", "a preset that was changed is its method"


def test_names_are_whole_at_the_sizes_of_laptops(view):
    page = view("synth:table,moving,240x160x32", "--paused")
    page.choose("#method", "ad-census")
    page.settle()
    page.script("viewer.look_at({layout: 4, views: ['uncertainty', 'difference', 'error', 'confidence']})")
    cut = """const wide = (e) => e.scrollWidth > e.clientWidth + 1;
      const names = [...document.querySelectorAll('#times span, .pane-head select, header select, .row > .name')].filter(wide).map((e) => e.textContent || e.value);
      const times = document.getElementById('times');
      return times.scrollHeight > times.clientHeight + 1 ? [...names, 'the list of stages'] : names;"""
    for width, height in ((1400, 900), (900, 700)):
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", dict(width=width, height=height, deviceScaleFactor=1, mobile=False))
        page.wait_for(lambda: page.script(cut) == [], f"whole names at {width}×{height}; cut are {page.script(cut)}")
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", dict(width=390, height=844, deviceScaleFactor=1, mobile=True))
    page.wait_for(lambda: page.script("return document.querySelector('.pane-body').getBoundingClientRect().top < 140"), "pictures first")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_what_is_wrong_is_said_and_nothing_is_lost(view, sequence):
    page = view(sequence / "left", sequence / "right", "--disparities", 32, "--paused")
    before = page.plane("disparity")
    page.enter('[data-parameter="optimisation.p1"] input[type=number]', 99999)
    page.wait_for(lambda: "0 to 4095" in page.notice(), "the refusal")
    assert page.script("return viewer.state.slots.find(s => s.slot === 'optimisation').parameters.find(p => p.name.endsWith('p1')).value") == "20"
    (sequence / "left" / "002.ppm").unlink()
    page.click("#forward")
    page.wait_for(lambda: page.script("return viewer.frame.index") == 1, "the second pair")
    page.click("#forward")
    page.wait_for(lambda: "002.ppm" in page.notice(), "the sentence about the file")
    page.click("#back")
    page.click("#back")
    page.wait_for(lambda: page.script("return viewer.frame.index") == 0 and not page.notice(), "the first pair again")
    assert np.array_equal(page.plane("disparity"), before, equal_nan=True)
    page.driver.refresh()
    page.wait_for(lambda: page.script("return Boolean(globalThis.viewer?.frame)"), "the page again")
    assert np.array_equal(page.plane("disparity"), before, equal_nan=True)


NAMELESS = """
const named = (e) => e.getAttribute("aria-label") || e.title || e.textContent.trim() || e.closest("label")?.textContent.trim();
return [...document.querySelectorAll("button, select, input, [role=img], [role=group]")]
  .filter((e) => !e.closest("[aria-hidden=true]") && !named(e)).map((e) => e.outerHTML);
"""


FITS = """
const box = (css) => document.querySelector(css).getBoundingClientRect(), panes = box("#panes");
const inside = [...document.querySelectorAll(".pane, .legend, #layout button")].map((e) => e.getBoundingClientRect());
return document.getElementById("picture").width === Math.round(panes.width) && inside.every((b) => b.right <= panes.right)
  && document.documentElement.scrollWidth <= innerWidth && document.getElementById("histogram").viewBox.baseVal.width === box("#histogram").width;
"""


def test_keys_theme_sizes_and_labels(view):
    page = view("synth:table,240x160x32", "--paused")
    assert page.script(NAMELESS) == []
    page.press("?")
    assert "post-processing on or off" in page.find("#keys").text
    page.press(Keys.ESCAPE)
    theme = page.script("return document.documentElement.dataset.theme")
    page.press("t")
    assert {theme, page.script("return document.documentElement.dataset.theme")} == {"light", "dark"}
    for key in "1342":
        page.press(key)
        assert len(page.driver.find_elements("css selector", ".pane-body")) == int(key)
    size = page.driver.get_window_size()
    for width, height in ((700, 900), (1100, 620), (size["width"], size["height"])):
        page.resize(width, height)
        page.wait_for(lambda: page.script(FITS), "a picture that fits the window")
    page.click('[data-keep="picture"]')
    assert page.downloaded("disparity.png").startswith(b"\x89PNG")


def test_colours_post_processing_and_figures_are_of_what_is_shown(view):
    page = view("synth:table,240x160x32", "--paused")
    page.script("viewer.look_at({colours: 'viridis', automatic: false, low: 0, high: 31})")
    d, drawn, table = page.plane("disparity"), page.colours(1).astype(int), st.color_map("viridis").astype(int)
    share = np.clip(np.nan_to_num(d) / 31, 0, 1) * 255
    exact = np.isfinite(d) & (np.abs(share % 1 - 0.5) > 0.1)  # not halfway between two entries
    assert np.abs(drawn[exact] - table[np.rint(share[exact]).astype(int)]).max() <= 2, "the table of Python and the command"
    disparity = page.plane("disparity")
    first, _, last = page.script("return [...document.querySelectorAll('#histogram text')].map((t) => t.textContent)")
    assert (first, last) == ("0", "31 px")
    assert abs(page.script("return viewer.median") - np.nanmedian(disparity)) <= 1
    assert page.script("return viewer.counts.reduce((a, b) => a + b)") == np.isfinite(disparity).sum()

    page.script("viewer.look_at({colours: 'grey', automatic: false, low: 8, high: 16})")
    grey = page.colours(1)
    assert (grey[disparity < 8] == 0).all() and (grey[disparity > 16] == 255).all()
    between = (disparity > 9) & (disparity < 15)
    assert np.abs(grey[between][:, 0] - 255 * (disparity[between] - 8) / 8).max() < 2

    page.press("p")
    page.settle()
    assert not page.find("#refine").is_selected()
    plain = st.Pipeline("sgm")
    for slot in plain.slots():
        if slot.is_refinement and any(info.name == f"{slot.slot}.enabled" for info in slot.parameters):
            plain.set(f"{slot.slot}.enabled", False)
    scene = st.synth("table", width=240, height=160, disparities=32, noise=2)
    expected = st.match(scene.left, scene.right, 32, pipeline=plain, device="cpu").disparity
    assert np.array_equal(page.plane("disparity"), expected, equal_nan=True)

    for method in ("asw", "sgm"):  # these methods share some stages
        page.choose("#method", method)
        page.settle()
        bars = page.driver.find_elements("css selector", "#times .time")
        assert [bar.find_element("tag name", "span").text for bar in bars] == page.script("return Object.keys(viewer.frame.times)")
    assert page.find('[data-slot="optimisation"]').get_attribute("open"), "as before asw, which has none"


# Counts the columns of a part of the canvas that have the colour of the searched row.
LINES = """
const c = document.getElementById("overlay"), b = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
const [x0, width] = arguments, found = new Set();
for (let i = 0; i < b.length; i += 4) {
  const x = (i / 4) % c.width;
  const orange = b[i] > 150 && b[i] - b[i + 2] > 70;
  if (!c.hidden && orange && x >= x0 * c.width && x < (x0 + width) * c.width) found.add(x);
}
return found.size;
"""


def test_lines_over_the_pictures_a_wipe_and_the_cloud_that_is_turned(view):
    page = view("synth:table,240x160x32", "--paused")
    page.script("viewer.look_at({layout: 2, views: ['left', 'right', 'cloud', 'validity']})")
    page.point(0, 150, 80, click=True)
    page.wait_for(lambda: page.script(LINES, 0.5, 0.5) > 0, "the row that is searched, on the right picture")
    scale = page.find(".pane-body").size["width"] / 240
    assert 0.6 < page.script(LINES, 0.5, 0.5) / (31 * scale) < 1.05, "of 31 pixels, the cross at the match hides some"
    assert page.script(LINES, 0, 0.5) == 0
    page.press(Keys.ESCAPE)
    page.wait_for(lambda: not page.find("#overlay").is_displayed(), "no lines")
    page.press("l")
    page.wait_for(lambda: page.find("#overlay").is_displayed(), "rows to judge a rectification by")

    page.press("c")
    page.enter('[data-parameter="optimisation.p2"] input[type=number]', 40)
    page.settle()
    page.script("viewer.look_at({views: ['left', 'compare', 'cloud', 'validity']})")
    page.wait_for(lambda: page.script("return Boolean(viewer.planes.pinned)"), "the pinned result")
    page.drag(1, (120, 80), (60, 80))
    assert 0.2 < page.script("return viewer.look.wipe") < 0.35

    page.script("viewer.look_at({views: ['left', 'cloud', 'cloud', 'validity']})")
    page.wait_for(lambda: page.script("return Boolean(viewer.planes.surface)"), "the points")
    before = page.colours(1)
    page.drag(1, (120, 80), (160, 90))
    turned = page.colours(1)
    page.script("viewer.look_at({cloud_colour: 'depth'})")
    assert (before != turned).mean() > 0.1 and (turned != page.colours(1)).mean() > 0.1
    assert page.complaints() == []


@pytest.mark.parametrize("scene", ["table"])
def test_every_view_is_drawn(view, scene, tmp_path):
    rig = tmp_path / "rig.yml"
    st.Rig(focal=300.0, baseline=0.1, cx_left=120, cy=80, unit="m", size=(240, 160)).write(rig)
    page = view(f"synth:{scene},240x160x32", "--paused", "--calib", rig)
    page.press("c")
    page.settle()
    names = [option.get_attribute("value") for option in page.find(".pane-head select").find_elements("tag name", "option")]
    assert len(names) == 13
    for name in {*names} - {"seeds"}:  # generated scenes have none
        page.script("viewer.look_at({views: ['left', arguments[0], 'cloud', 'validity']})", name)
        planes = page.script("return [...document.querySelectorAll('.pane-body')].map(b => b.dataset.view)")
        assert planes[1] == name
        own = {"confidence": "confidence", "depth": "surface", "uncertainty": "surface"}.get(name, "disparity")
        page.wait_for(lambda own=own: page.script("return Boolean(viewer.planes[arguments[0]])", own), "the plane of the view")
        if name != "cloud":
            expected = 1 if name == "difference" else 2  # nothing differs yet
            assert len(np.unique(page.colours(1).reshape(-1, 3), axis=0)) >= expected, name
    assert page.complaints() == []


def test_the_range_is_estimated_and_depth_and_cloud_are_kept(view, tmp_path):
    rig = st.Rig(focal=300.0, baseline=0.1, cx_left=120, cy=80, unit="m", size=(240, 160))
    rig.write(tmp_path / "rig.yml")
    page = view("synth:table,240x160x32", "--paused", "--calib", tmp_path / "rig.yml", "--disparities", 64)
    scene = st.synth("table", width=240, height=160, disparities=32, noise=2)
    page.click('[title^="Estimate from this pair"]')
    page.settle()
    assert page.script("return viewer.frame.disparities") == list(st.check(scene.left, scene.right).disparities)

    disparity, measured = page.plane("disparity"), page.plane("validity") == 0
    assert 0.5 < measured.mean() < np.isfinite(disparity).mean()
    page.click('[data-keep="depth"]')
    (tmp_path / "depth.pfm").write_bytes(page.downloaded("depth.pfm"))
    of_measured = np.where(measured, 30 / disparity, np.nan)
    assert np.allclose(st.read_pfm(tmp_path / "depth.pfm"), of_measured, rtol=1e-5, equal_nan=True)
    page.click('[data-keep="disparity"]')
    (tmp_path / "disparity.pfm").write_bytes(page.downloaded("disparity.pfm"))
    assert np.array_equal(st.read_pfm(tmp_path / "disparity.pfm"), disparity, equal_nan=True)
    page.click('[title^="The command line"]')
    page.wait_for(lambda: page.find("#command").text.startswith("stereopsis match left.ppm right.ppm"), "the command line")
    page.click('[data-keep="cloud"]')
    header, _, points = page.downloaded("cloud.ply").partition(b"end_header\n")
    assert b"element vertex %d" % np.count_nonzero(disparity[measured] > 0) in header and points

    body = page.driver.find_elements("css selector", ".pane-body")[1]
    page.scroll(body, -300)
    page.wait_for(lambda: page.script("return viewer.zoom.scale") > 1.2, "a closer look")
    near = page.script("return viewer.zoom.scale")
    page.drag(1, (120, 80), (90, 80))
    page.wait_for(lambda: page.script("return viewer.zoom.x") > 0.5, "a look at what lies to the right")
    page.scroll(body, 300)
    page.wait_for(lambda: page.script("return viewer.zoom.scale") < near, "a look from further away")
    assert page.complaints() == []


def test_the_recording_shows_the_panes(view, tmp_path):
    cv2 = pytest.importorskip("cv2", reason="OpenCV reads videos; ./dev view-test installs it")
    page = view("synth:table,240x160x32", "--paused")
    page.script("viewer.pixel = null; viewer.changed('pixel')")
    page.click("#record")
    page.press("p")  # swapped cameras would be told on the panes
    page.settle()
    time.sleep(2)  # seconds of video
    panes = page.find("#panes")
    seen = cv2.imdecode(np.frombuffer(panes.screenshot_as_png, np.uint8), cv2.IMREAD_COLOR)
    bodies = page.script("return [...document.querySelectorAll('.pane-body')].map((b) => [b.offsetLeft + b.parentNode.offsetLeft, b.offsetTop + b.parentNode.offsetTop, b.offsetWidth, b.offsetHeight])")
    page.click("#record")
    content = page.downloaded("recording.webm")
    (tmp_path / "recording.webm").write_bytes(content)
    video, frames = cv2.VideoCapture(str(tmp_path / "recording.webm")), []
    while (read := video.read())[0]:
        frames.append(read[1])
    assert content.startswith(b"\x1a\x45\xdf\xa3") and len(frames) > 1
    for x, y, width, height in bodies:
        part = np.s_[y : y + height, x : x + width]
        alike = np.corrcoef(frames[-1][part].ravel(), seen[part].ravel())[0, 1]
        assert alike > 0.97, "what was on the screen, but for the video's compression and its range of values"


def test_a_result_is_sent_to_somebody(view, tmp_path):
    page = view("synth:table,240x160x32", "--paused")
    disparity = page.plane("disparity")
    page.click("#snapshot")
    file = tmp_path / "result.html"
    file.write_bytes(page.downloaded("stereopsis.html"))
    page.leave()
    page.driver.get(file.as_uri())
    page.script(
        "const i = document.getElementById('map'), r = i.getBoundingClientRect();"
        "window.move = () => i.dispatchEvent(new PointerEvent('pointermove', {clientX: r.x + r.width * 100.5 / 240, clientY: r.y + r.height * 80.5 / 160}))"
    )
    page.wait_for(lambda: "100, 80" in page.script("window.move(); return document.querySelector('output').textContent"), "the value")
    assert f"disparity {disparity[80, 100]:.3f} px" in page.find("output").text
    assert "stereopsis match left.ppm right.ppm" in page.find("code").text
    assert [address for address in page.requests() if not address.startswith(("file:", "data:", "blob:"))] == []


def test_two_pages_a_preset_and_the_end(view, tmp_path):
    page = view("synth:table,240x160x32", "--paused")
    preset = tmp_path / "preset.json"
    preset.write_text(st.Pipeline("banz-sgm").set("sgm.p2", 70).to_json())
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.driver.get(page.address)
    page.wait_for(lambda: page.script("return Boolean(globalThis.viewer?.frame)"), "a picture on the second page")
    page.find("#preset-file").send_keys(str(preset))
    page.settle()
    scene = st.synth("table", width=240, height=160, disparities=32, noise=2)
    expected = st.match(scene.left, scene.right, 32, pipeline=st.Pipeline.read(preset), device="cpu").disparity
    assert np.array_equal(page.plane("disparity"), expected, equal_nan=True)
    preset.write_text('{"method": "sgm", "cost": {"stage": "nonsense"}}')
    page.find("#preset-file").send_keys(str(preset))
    page.wait_for(lambda: "nonsense" in page.notice(), "the refusal of a preset")
    assert page.script("return viewer.state.method") == "banz-sgm"
    page.driver.close()
    page.driver.switch_to.window(first)
    page.settle()
    assert page.find("#method").get_attribute("value") == "banz-sgm"
    assert np.array_equal(page.plane("disparity"), expected, equal_nan=True)
    page.process.terminate()
    assert page.process.wait(20) == 0
    page.wait_for(lambda: "does not answer" in page.notice(), "the sentence about the end")
    assert np.array_equal(page.plane("disparity"), expected, equal_nan=True)


def box(page, css):
    return page.script("const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]", css)


def test_saving_is_near_the_top_and_has_the_name_of_the_documentation(view):
    page = view("synth:table,240x160x32", "--paused")
    groups = [one.text for one in page.driver.find_elements("css selector", "#side details > summary")]
    assert groups.index("Save") == 1 and "Keep" not in groups


def test_nothing_covers_the_panel_in_a_narrow_window(view, sequence):
    page = view(sequence)
    page.resize(800, 800)
    panel = box(page, "#side")[0]
    for css in ("#layout", "#speed", "#timeline", "#panes"):
        assert box(page, css)[2] <= panel + 1, css
    assert box(page, "#help")[2] <= page.script("return innerWidth") and box(page, "#position")[2] <= box(page, "#place")[0] + 1
    page.resize(1280, 800)


def test_wide_pictures_are_shown_one_below_the_other(view):
    page = view("synth:table,480x120x32", "--paused")
    page.resize(1280, 1000)
    page.wait_for(lambda: page.script("return getComputedStyle(document.getElementById('panes')).gridTemplateColumns.split(' ').length") == 1, "one column")
    first, second = (one.rect for one in page.driver.find_elements("css selector", ".pane-body"))
    assert second["y"] > first["y"] + first["height"] and second["x"] == first["x"]
    page.resize(1280, 800)


def test_the_distance_of_two_points_and_the_depths_of_the_range(view, tmp_path):
    rig = st.Rig(focal=300.0, baseline=100.0, cx_left=120, cy=80, unit="mm", size=(240, 160))
    rig.write(tmp_path / "rig.yml")
    page = view("synth:table,240x160x32", "--paused", "--calib", tmp_path / "rig.yml", "--disparities", 32)
    disparity, measured = page.plane("disparity"), page.plane("validity") == 0
    page.press("m")
    page.wait_for(lambda: page.find("#distance").text == "Distance: click two points.", "the ruler")
    ends = [tuple(int(v) for v in np.argwhere(measured[40:120, part] & (disparity[40:120, part] > 4))[0] + (40, part.start))[::-1] for part in (slice(40, 80), slice(160, 200))]
    for end in ends:
        page.point(0, *end, click=True)
    clicked = page.script("return [...document.querySelectorAll('#distance')].map(e => e.textContent)")
    page.wait_for(lambda: " m (right " in page.find("#distance").text, f"a distance, not {clicked}")
    marked = [tuple(map(int, end.split(", "))) for end in page.find("#distance").get_attribute("title").split(" to ")]
    assert np.abs(np.subtract(marked, ends)).max() <= 3  # pixels of the screen are not those of the picture
    points = [np.array([(x - 120) * 30 / disparity[y, x] / 300, (y - 80) * 30 / disparity[y, x] / 300, 30 / disparity[y, x]]) for x, y in marked]
    shown = float(page.find("#distance").text.split()[1])
    assert shown == pytest.approx(np.linalg.norm(points[0] - points[1]), rel=2e-3)
    page.press("m")
    assert page.find("#distance").text == ""
    page.enter('[aria-label="Nearest depth"]', 2)
    page.settle()
    assert page.script("return viewer.frame.disparities") == [0, 16]  # 30 m·px / 2 m
    page.enter('[aria-label="Farthest depth"]', 10)
    page.settle()
    assert page.script("return viewer.frame.disparities") == [3, 16]


def test_a_sequence_has_a_timeline(view, sequence):
    page = view(sequence)
    page.wait_for(lambda: page.script("return document.querySelectorAll('#timeline polyline').length") == 4, "the timeline")
    page.wait_for(lambda: "measured" in page.find("#timeline").get_attribute("aria-label"), "its description")
    page.press(" ")
    line = page.find("#timeline")
    page.script("const b = arguments[0].getBoundingClientRect(); arguments[0].dispatchEvent(new MouseEvent('click', {clientX: b.right - 1, clientY: b.top + 5, bubbles: true}))", line)
    page.wait_for(lambda: page.script("return viewer.frame.index === viewer.state.playback.length - 1"), "the last pair")
