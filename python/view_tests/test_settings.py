"""Device, working resolution and depth: what the page shows of them, and what the engine computes."""

import re

import numpy as np
import pytest
import stereopsis as st

SIZES = {  # sizes for a picture of 800×500 pixels
    "full": (800, 500), "1/2": (400, 250), "1/4": (200, 125), "1/8": (100, 62),
    "640×480": (640, 400), "320×240": (320, 200), "160×120": (160, 100), "80×60": (80, 50),
}  # fmt: skip


def next_picture(page, change):
    """Makes a change and waits for a result that was made after it, even with the same settings."""
    before = page.script("return viewer.frame.serial")
    change()
    page.wait_for(lambda: page.script("return viewer.frame.serial") > before, "another result")
    page.settle()


def test_another_device_gives_the_same_bits(view):
    opencl = next((d.name for d in st.devices() if d.name.startswith("opencl") and d.usable), None)
    if opencl is None:
        pytest.skip("there is no OpenCL device; ./dev setup installs PoCL")
    page = view("synth:table,240x160x32", "--paused")
    assert page.find("#device").get_attribute("value") == "cpu" and page.find("#ran-on").text == "on cpu"
    expected = {name: page.plane(name) for name in ("disparity", "validity")}
    for chosen in (opencl, "cpu", opencl):
        next_picture(page, lambda: page.choose("#device", chosen))  # noqa: B023
        assert page.find("#ran-on").text == f"on {chosen}"
        for name, bits in expected.items():
            assert np.array_equal(page.plane(name), bits, equal_nan=True), (chosen, name)
    next_picture(page, lambda: page.enter('[data-parameter="optimisation.p1"] input[type=number]', 12))
    scene = st.synth("table", width=240, height=160, disparities=32, noise=2)
    expected = st.match(scene.left, scene.right, 32, set={"sgm.p1": 12}, device="cpu").disparity
    assert page.find("#ran-on").text == f"on {opencl}"
    assert np.array_equal(page.plane("disparity"), expected, equal_nan=True)
    next_picture(page, lambda: page.choose("#device", "auto"))
    assert page.find("#ran-on").text in [f"on {device.name}" for device in st.devices() if device.usable]
    assert np.array_equal(page.plane("disparity"), expected, equal_nan=True)
    for device in st.devices():
        option = page.find(f'#device option[value="{device.name}"]')
        assert option.is_enabled() == device.usable
        assert option.get_attribute("title") == (device.description if device.usable else device.reason)


def test_a_device_that_is_not_there_is_said(view):
    page = view("synth:table,240x160x32", "--paused")
    before = page.plane("disparity")
    page.script("viewer.link.send({do: 'device', name: 'opencl:77'})")
    page.wait_for(lambda: "opencl:77" in page.notice(), "the sentence about the device")
    assert page.find("#device").get_attribute("value") == "opencl:77"
    assert np.array_equal(page.plane("disparity"), before, equal_nan=True)
    next_picture(page, lambda: page.choose("#device", "cpu"))
    assert not page.notice() and np.array_equal(page.plane("disparity"), before, equal_nan=True)


def areas(count, parts):
    """Makes each of the parts the mean of what it covers of so many pixels."""
    ends = np.arange(parts + 1) * count / parts
    covered = np.minimum(ends[1:, None], np.arange(1, count + 1)) - np.maximum(ends[:-1, None], np.arange(count))
    return np.maximum(covered, 0) * parts / count


def of_areas(image, width, height):
    rows, columns = areas(image.shape[0], height), areas(image.shape[1], width)
    return np.einsum("yj,jkc,xk->yxc", rows, image.astype(float), columns, optimize=True)


@pytest.fixture
def rig(tmp_path):
    """rig(width, height) of 800×500 pixels, whose principal points lie six pixels apart, at another size; rig.yml is at its own."""

    def scaled(width, height):
        x, y = width / 800, height / 500
        middles = {"cx_left": 396.5 * x - 0.5, "cx_right": 402.5 * x - 0.5, "cy": 252.5 * y - 0.5}
        return st.Rig(focal=700 * x, baseline=0.2, unit="m", size=(width, height), **middles)

    scaled(800, 500).write(tmp_path / "rig.yml")
    return scaled


def test_every_working_resolution_scales_pictures_range_and_depth(view, tmp_path, rig):
    page = view("synth:table,800x500x96", "--paused", "--calib", tmp_path / "rig.yml")
    scene = st.synth("table", width=800, height=500, disparities=96, noise=2)
    page.script("viewer.look_at({layout: 2, views: ['left', 'right', 'cloud', 'validity']})")
    page.wait_for(lambda: page.script("return Boolean(viewer.planes.right)"), "the right picture")
    assert [option.text for option in page.find("#resolution").find_elements("tag name", "option")] == list(SIZES)
    true_depth = np.median(140 / (scene.disparity + 6))
    for name, (width, height) in [*list(SIZES.items())[1:], ("full", SIZES["full"])]:
        next_picture(page, lambda: page.choose("#resolution", name))  # noqa: B023
        page.wait_for(lambda: page.script("return viewer.planes.right.width") == width, "the right picture")  # noqa: B023
        count = int(np.ceil(96 * width / 800))
        assert page.find(".pane .note").text == f"{width}×{height}"
        assert f"{count} searched at {width}×{height}" in page.find("#side").text

        pictures = {side: page.plane(side) for side in ("left", "right")}
        for side, picture in pictures.items():
            means = of_areas(getattr(scene, side), width, height)
            assert np.abs(picture - means).max() < 0.5 + 1e-9, "rounded to nearest"
        want = ["depth", "points", "uncertainty"]
        expected = st.match(**pictures, disparities=count, rig=rig(width, height), want=want, disparity_error=0.5, device="cpu")
        assert np.array_equal(page.plane("disparity"), expected.disparity, equal_nan=True)
        assert abs(np.nanmedian(expected.depth) / true_depth - 1) < 0.1

        page.click('[data-keep="depth"]')
        (tmp_path / "depth.pfm").write_bytes(page.downloaded("depth.pfm"))
        assert np.allclose(st.read_pfm(tmp_path / "depth.pfm"), expected.depth, rtol=1e-6, equal_nan=True)
        page.click('[data-keep="cloud"]')
        points = np.frombuffer(page.downloaded("cloud.ply").partition(b"end_header\n")[2], [("at", "<f4", 3), ("colour", "u1", 3)])
        assert np.allclose(points["at"], expected.points[~np.isnan(expected.points).any(axis=2)], rtol=1e-5, atol=1e-6)
        told_as_the_engine_has_it(page, expected, np.isfinite(expected.depth))
    assert page.complaints() == []


def told_as_the_engine_has_it(page, expected, there):
    """Disparity, depth and its uncertainty under the pointer, which rests at a pixel of these."""
    rows, columns = np.nonzero(there)
    page.point(0, int(columns[len(columns) // 3]), int(rows[len(rows) // 3]))
    page.wait_for(lambda: "for ½ px, match at" in page.find("#readout").text, "a pixel that has a disparity and a depth")
    x, y = page.script("return [viewer.pixel.x, viewer.pixel.y]")
    found = re.fullmatch(r"(\d+), (\d+): (.*) px, (.*) ± (.*) m for ½ px, match at (.*?), .*", page.find("#readout").text)
    assert (int(found[1]), int(found[2])) == (x, y)
    disparity, depth, uncertainty, match = map(float, found.groups()[2:])
    assert abs(disparity - expected.disparity[y, x]) <= 0.0051
    assert abs(depth / expected.depth[y, x] - 1) <= 5.1e-4, "four digits"
    assert abs(uncertainty / expected.uncertainty[y, x] - 1) <= 0.051, "two digits"
    assert abs(match - (x - expected.disparity[y, x])) <= 0.051


def test_depth_under_the_pointer_is_the_engines_own(view, tmp_path, rig):
    page = view("synth:table,800x500x96", "--paused", "--calib", tmp_path / "rig.yml")
    scene = st.synth("table", width=800, height=500, disparities=96, noise=2)
    want = ["depth", "uncertainty"]
    expected = st.match(scene.left, scene.right, 96, rig=rig(800, 500), want=want, disparity_error=0.5, device="cpu")
    near, far = np.nanpercentile(expected.depth, [10, 90])
    for there in (expected.depth < near, expected.depth > far, expected.validity == 0):
        told_as_the_engine_has_it(page, expected, there)
    filled = (expected.validity & st.validity.filled) > 0  # without depth; all pixels around the pointer
    rows, columns = np.nonzero(np.lib.stride_tricks.sliding_window_view(filled, (7, 7)).all(axis=(2, 3)))
    page.point(0, int(columns[len(columns) // 3]) + 3, int(rows[len(rows) // 3]) + 3)
    page.wait_for(lambda: ", filled" in page.find("#readout").text, "a pixel that was filled")
    assert " m for" not in page.find("#readout").text
    next_picture(page, lambda: page.click('[data-slot="fill"] summary input'))
    validity = page.plane("validity")
    failed = validity == st.validity.left_right
    inner = np.argwhere(failed[1:-1, 1:-1] & failed[:-2, 1:-1] & failed[2:, 1:-1] & failed[1:-1, :-2] & failed[1:-1, 2:])
    y, x = inner[len(inner) // 2] + 1
    page.point(0, int(x), int(y))
    page.wait_for(lambda: ": no disparity, left-right check" in page.find("#readout").text, "why there is no depth")


def test_seeds_guide_the_matching_until_they_are_switched_off(view, tmp_path):
    scene = st.synth("table", width=320, height=240, disparities=32, noise=2)
    seeds = np.where(np.random.default_rng(1).random(scene.disparity.shape) < 0.03, scene.disparity, np.float32(np.nan))
    for name in ("left", "right"):
        st.write_image(tmp_path / f"{name}.png", getattr(scene, name))
    np.save(tmp_path / "seeds.npy", seeds)
    page = view(tmp_path / "left.png", tmp_path / "right.png", "--seeds", tmp_path / "seeds.npy", "--disparities", 32, "--align-rows", "off", "--paused")
    page.script("viewer.look_at({layout: 2, views: ['seeds', 'disparity']})")
    page.settle()
    match = dict(disparities=32, device="cpu", align_rows="off")
    assert np.array_equal(page.plane("disparity"), st.match(scene.left, scene.right, seeds=seeds, **match).disparity, equal_nan=True)
    page.wait_for(lambda: np.array_equal(page.plane("seeds"), seeds, equal_nan=True), "the seeds")
    next_picture(page, lambda: page.click("#seeds"))
    assert np.array_equal(page.plane("disparity"), st.match(scene.left, scene.right, **match).disparity, equal_nan=True)
