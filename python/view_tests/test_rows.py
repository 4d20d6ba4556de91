"""The rows of a pair: aligned or not, before and after."""

import numpy as np
import stereopsis as st
from test_settings import next_picture


def test_rows_are_aligned_and_a_switch_shows_the_pair_as_it_is(view, tmp_path):
    scene = st.synth("table", width=320, height=240, disparities=32, noise=2, vertical_offset=1, vertical_slope=1)
    for name in ("left", "right"):
        st.write_image(tmp_path / f"{name}.png", getattr(scene, name))
    page = view(tmp_path / "left.png", tmp_path / "right.png", "--disparities", 32, "--paused")
    page.script("viewer.look_at({layout: 2, views: ['left', 'right'], lines: true})")
    page.settle()
    aligned = st.match(scene.left, scene.right, 32, device="cpu")
    said = f"rows aligned: {aligned.row_alignment.rms:.2f} px, roll {aligned.row_alignment.roll:.2f} px"
    assert page.find("#rows-found").get_attribute("textContent") == said
    assert said in [note.text for note in page.driver.find_elements("css selector", ".pane .note")]
    assert page.find("#align-rows").is_selected()
    assert np.array_equal(page.plane("disparity"), aligned.disparity, equal_nan=True)
    page.wait_for(lambda: np.array_equal(page.plane("right"), st.align_rows(scene.right, aligned.rows)[0]), "the aligned picture")
    lines = page.script("return document.getElementById('overlay').toDataURL()")

    next_picture(page, lambda: page.press("a"))
    as_it_is = st.match(scene.left, scene.right, 32, device="cpu", align_rows="off", warn_of_pair=False)
    assert not page.find("#align-rows").is_selected()
    assert page.find("#rows-found").get_attribute("textContent") == ""
    page.wait_for(lambda: "switch on Rows aligned" in page.notice(), "what the page offers")
    assert np.array_equal(page.plane("disparity"), as_it_is.disparity, equal_nan=True)
    page.wait_for(lambda: np.array_equal(page.plane("right"), scene.right), "the picture as it is")
    page.wait_for(lambda: page.script("return document.getElementById('overlay').toDataURL()") != lines, "lines without those before")


def test_a_calibration_is_corrected_from_the_pairs_of_the_source(view, tmp_path):
    for seed in range(3):
        scene = st.synth("room", width=400, height=300, disparities=48, seed=seed, vertical_offset=4)
        for side in ("left", "right"):
            (tmp_path / side).mkdir(exist_ok=True)
            st.write_image(tmp_path / side / f"{seed}.png", getattr(scene, side))
    (tmp_path / "K.txt").write_text("400 0 199.5 0 400 149.5 0 0 1\n0.12\n")
    page = view(tmp_path / "left", tmp_path / "right", "--calib", tmp_path / "K.txt", "--disparities", 48, "--paused")
    page.wait_for(lambda: float(page.find("#rows-differ").get_attribute("value")) > 0.9, "a full bar")
    page.click('[data-keep="calibration"]')
    page.wait_for(lambda: "after the correction" in page.find("#notice").get_attribute("textContent"), "the sentence")
    (tmp_path / "rig.yml").write_bytes(page.downloaded("rig.yml"))
    cameras = st.read_calibration(tmp_path / "rig.yml")
    left, right, _, _ = st.Rectification(cameras)(scene.left, scene.right)
    assert st.check(left, right).rectified and not st.check(scene.left, scene.right).rectified
