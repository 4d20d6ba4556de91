"""Tests what a screen reader gets: the browser's own tree of roles, names, values and states."""

import pytest
import stereopsis as st
from selenium.webdriver.common.keys import Keys

CONTROLS = {"button", "checkbox", "combobox", "DisclosureTriangle", "image", "slider", "spinbutton", "textbox"}


class Told:
    """An element's role, name, value, and states by their names."""

    def __init__(self, node):
        self.role, self.name = node["role"]["value"], node.get("name", {}).get("value", "")
        self.value = node.get("value", {}).get("value")
        self.states = {entry["name"]: entry["value"].get("value") for entry in node.get("properties", [])}


def told(page, css):
    """Returns the accessible properties of one element."""
    protocol = page.driver.execute_cdp_cmd
    root = protocol("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    node = protocol("DOM.querySelector", {"nodeId": root, "selector": css})["nodeId"]
    (found,) = protocol("Accessibility.getPartialAXTree", {"nodeId": node, "fetchRelatives": False})["nodes"]
    return Told(found)


def value_text(page, css):
    """Returns the text that is read for a slider instead of its value, which is its place. Chromium's tree keeps it for itself."""
    assert told(page, css).role == "slider"
    return page.find(css).get_attribute("aria-valuetext")


def all_told(page):
    nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    return [Told(node) for node in nodes if not node["ignored"]]


@pytest.fixture
def page(view, sequence):
    return view(sequence / "left", sequence / "right", "--disparities", 32, "--paused")


def test_all_controls_have_a_role_and_a_name_of_their_own(page):
    page.choose("#method", "prehn-window")  # this method has parameters of all kinds
    page.settle()
    page.script("for (const d of document.querySelectorAll('details')) d.open = true")
    controls = [one for one in all_told(page) if one.role in CONTROLS]
    assert {one.role for one in controls} == CONTROLS
    assert [one.role for one in controls if not one.name] == []
    for role in ("checkbox", "combobox", "slider", "spinbutton"):
        names = [one.name for one in controls if one.role == role]
        assert len(names) == len(set(names)), f"two of the same name: {sorted(names)}"
    shown = [info for slot in st.Pipeline("prehn-window").slots() for info in slot.parameters]
    sliders = {one.name for one in controls if one.role == "slider"}
    for info in shown:
        name = ", ".join(filter(None, (info.name, info.unit)))
        expected = {"flag": "checkbox", "choice": "combobox", "numbers": "textbox"}.get(info.type, "spinbutton")
        one = next(one for one in controls if one.name == name and one.role == expected)
        if expected == "checkbox":
            assert one.states["checked"] == info.value, name
        else:
            assert str(one.value).replace(" ", "_") == info.value, name
        if expected == "spinbutton":
            assert name in sliders
            assert value_text(page, f'[data-parameter="{info.name}"] input[type=range]') == f"{info.value} {info.unit}".strip()


def test_switches_lists_and_buttons_tell_their_state(page):
    assert told(page, "#refine").role == "checkbox" and told(page, "#refine").name == "Post-processing"
    for state in ("false", "true"):
        page.press("p")
        page.settle()
        assert told(page, "#refine").states["checked"] == state
    assert (told(page, "#method").role, told(page, "#method").name, told(page, "#method").value) == ("combobox", "Method", "sgm")
    page.choose("#method", "banz-sgm")
    page.settle()
    assert told(page, "#method").value == "banz-sgm" and told(page, "#device").value == "cpu"
    one, two = '#layout [data-value="1"]', '#layout [data-value="2"]'
    assert (told(page, one).states["pressed"], told(page, two).states["pressed"]) == ("false", "true")
    page.click(one)
    assert (told(page, one).states["pressed"], told(page, two).states["pressed"]) == ("true", "false")
    page.click(two)
    assert told(page, one).name == "One view"
    compare = "details:has(#pin) > summary"
    assert told(page, compare).states["expanded"] is False
    page.click(compare)
    assert told(page, compare).states["expanded"] is True and told(page, "#pin").states["pressed"] == "false"
    page.press("c")
    page.settle()
    assert told(page, "#pin").states["pressed"] == "true" and told(page, "#pin").name == "Unpin"
    assert told(page, "#play").name == "Play"
    page.click("#play")
    page.wait_for(lambda: told(page, "#play").name == "Pause", "another name of the button")


def test_sliders_tell_value_and_unit_and_are_moved_by_keys(page):
    slider, number = (f'[data-parameter="optimisation.p1"] input[type={kind}]' for kind in ("range", "number"))
    assert told(page, slider).role == "slider" and told(page, slider).name == "optimisation.p1, units of the matching cost"
    assert value_text(page, slider) == "20 units of the matching cost"
    assert (told(page, number).role, told(page, number).value) == ("spinbutton", 20)
    page.find(slider).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.settle()
    parameters = page.script("return viewer.state.slots.find((s) => s.slot === 'optimisation').parameters")
    moved = next(info["value"] for info in parameters if info["name"] == "optimisation.p1")
    assert int(moved) > 20 and told(page, number).value == int(moved)
    assert value_text(page, slider) == f"{moved} units of the matching cost"
    paths = '[data-parameter="optimisation.paths"] input[type=range]'
    page.find(paths).send_keys(Keys.ARROW_RIGHT)
    page.settle()
    assert value_text(page, paths) == "8"
    page.click("#forward")
    page.wait_for(lambda: value_text(page, "#position") == "2 of 4", "the second pair")
    assert (told(page, "#position").role, told(page, "#position").name) == ("slider", "Position")


def test_pictures_charts_and_sentences_are_told(page):
    disparity = page.plane("disparity")
    panes = [told(page, f".pane:nth-of-type({i}) .pane-body") for i in (1, 2)]
    assert [(pane.role, pane.name) for pane in panes] == [("image", "Left of 000.ppm"), ("image", "Disparity of 000.ppm")]
    assert "0 to 31 pixels; median" in told(page, "#histogram").name
    page.point(1, 100, 80, click=True)
    page.wait_for(lambda: page.script("return Boolean(viewer.costs?.curves)"), "the curve of costs")
    assert told(page, "#curve").name.startswith("Costs of all disparities at")
    readout = told(page, "#readout")
    assert (readout.role, readout.states["live"]) == ("status", "polite") and f"{disparity[80, 100]:.2f} px" in page.find("#readout").text
    page.enter('[data-parameter="optimisation.p1"] input[type=number]', 99999)
    page.wait_for(lambda: "0 to 4095" in page.notice(), "the refusal")
    assert told(page, "#notice").role == "alert" and told(page, "#notice").states["live"] == "assertive"
