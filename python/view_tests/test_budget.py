"""A budget chooses the pipeline of the first pair, and the page shows the choice until the pipeline is changed."""

import numpy as np
import pytest
import stereopsis as st
from test_settings import next_picture


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_panel_shows_the_choice_until_the_pipeline_is_changed(view):
    page = view("synth:table,240x160x32", "--paused", "--budget", "100s")
    scene = st.synth("table", width=240, height=160, disparities=32, noise=2)
    page.wait_for(lambda: page.find("#budget").text.startswith("Budget 100s: accurate, full size, disparities 0 to 31, "), "the choice")
    assert page.find("#method").get_attribute("value") == "accurate"
    assert np.array_equal(page.plane("disparity"), st.match(scene.left, scene.right, 32, "accurate", "cpu").disparity, equal_nan=True)
    next_picture(page, lambda: page.choose("#method", "balanced"))
    assert not page.find("#budget").is_displayed()
    assert np.array_equal(page.plane("disparity"), st.match(scene.left, scene.right, 32, "balanced", "cpu").disparity, equal_nan=True)
    assert page.complaints() == []

