"""A program to run by hand: it makes the pictures and the recording of docs/view.md from the real page.

python pictures.py FOLDER       (in the environment of ./dev view-test, with Pillow)
"""

import io
import math
import pathlib
import subprocess
import sys
import tempfile

import measure
import stereopsis as st
from page import Page
from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains

CURSOR = """
const arrow = document.createElement("div");
arrow.innerHTML = '<svg width="20" height="26" viewBox="0 0 20 26"><path d="M2 1v19l5-4.6 3.4 7.6 3.4-1.5-3.4-7.4h7z" fill="#fff" stroke="#000" stroke-width="1.3"/></svg>';
arrow.style = "position: fixed; z-index: 99; pointer-events: none; left: -50px; top: -50px; filter: drop-shadow(0 1px 2px rgb(0 0 0 / .5))";
document.body.append(arrow);
addEventListener("pointermove", (e) => ((arrow.style.left = `${e.clientX - 2}px`), (arrow.style.top = `${e.clientY - 1}px`)), true);
"""


class Film:
    """A page, and the pictures that are taken of it."""

    def __init__(self, driver, process, size, theme):
        driver.set_window_size(*size)
        self.driver, self.pictures, self.at = driver, [], (600, 500)
        self.page = Page(driver, process.stdout.readline().strip(), process)
        self.page.script(f"document.documentElement.dataset.theme = viewer.look.theme = '{theme}'; viewer.look_at({{}})")

    def take(self):
        self.page.script("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.pictures.append(Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB"))
        return self.pictures[-1]

    def still(self, frames=4):
        self.pictures += [self.pictures[-1]] * frames

    def place(self, css, x=0.5, y=0.5):
        """Returns the place of an element's part on the screen."""
        self.page.script("document.querySelector(arguments[0]).scrollIntoView({block: 'nearest'})", css)
        box = self.page.script("const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.x, r.y, r.width, r.height]", css)
        return box[0] + x * box[2], box[1] + y * box[3]

    def glide(self, to, frames=5, then=None):
        """Moves the pointer; `then(t)` is done at each place on the way."""
        (x0, y0), (x1, y1) = self.at, to
        for i in range(1, frames + 1):
            t = 0.5 - 0.5 * math.cos(math.pi * i / frames)
            self.move(x0 + t * (x1 - x0), y0 + t * (y1 - y0))
            if then:
                then(t)
            self.take()

    def move(self, x, y):
        self.at = x, y
        chain = ActionChains(self.driver, duration=0)
        chain.w3c_actions.pointer_action.move_to_location(round(x), round(y))
        chain.perform()

    def button(self, down):
        chain = ActionChains(self.driver, duration=0)
        (chain.w3c_actions.pointer_action.pointer_down if down else chain.w3c_actions.pointer_action.pointer_up)()
        chain.perform()

    def undisturbed(self, ms=30, tries=12):
        """Matches again where something else on the machine took its time: the figures are to be those of a pair."""
        for _ in range(tries):
            self.page.settle()
            if self.page.script("return viewer.frame.ms") < ms:
                return
            before = self.page.script("return viewer.frame.serial")
            self.page.script("viewer.link.send({do: 'seek', index: viewer.frame.index})")
            self.page.wait_for(lambda: self.page.script("return viewer.frame.serial") > before, "the same pair")

    def step(self):
        before = self.page.script("return viewer.frame.serial")
        self.page.script("document.getElementById('forward').click()")
        self.page.wait_for(lambda: self.page.script("return viewer.frame.serial") > before, "the next pair")
        self.undisturbed()

    def slide(self, name, value):
        self.page.script(
            "const s = document.querySelector(`[data-parameter=\"${arguments[0]}\"] input[type=range]`);"
            "s.value = arguments[1]; s.dispatchEvent(new Event('input'))", name, value,
        )
        self.undisturbed()

    def choose(self, css, value):
        self.page.script("const s = document.querySelector(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'))", css, value)
        self.undisturbed()


def record(film):
    page = film.page
    page.script(CURSOR)
    film.move(*film.at)
    for _ in range(10):
        film.step()
        film.take()
    probed = ".pane:nth-of-type(1) .pane-body"
    film.glide(film.place(probed, 0.28, 0.55), 4)
    film.glide(film.place(probed, 0.52, 0.62), 5, lambda t: page.script("return new Promise((d) => setTimeout(d, 250))"))
    film.still(3)
    p2 = '[data-parameter="optimisation.p2"]'
    film.page.script("document.getElementById('side').scrollTo(0, 330)")
    film.glide(film.place(f"{p2} input[type=range]", 0.35), 4)
    for value in (0.3, 0.25, 0.3, 0.4, 0.5, 0.6, 0.66, 0.6, 0.5, 0.42, 0.35):
        film.slide("optimisation.p2", value)
        film.move(*film.place(f"{p2} input[type=range]", 0.03 + 0.94 * value))
        film.take()
    film.page.script("document.getElementById('side').scrollTo(0, 0)")
    film.glide(film.place("#refine"), 4)
    for _ in range(2):
        page.click("#refine")
        film.undisturbed()
        film.take()
        film.still(5)
    film.glide(film.place("#method"), 4)
    page.script("document.getElementById('pin').click()")
    page.settle()
    film.choose("#method", "prehn-window")
    page.wait_for(lambda: page.script("return Boolean(viewer.planes.pinned)"), "what is pinned")
    film.take()
    film.still(2)
    compared = ".pane:nth-of-type(2) .pane-body"
    film.glide(film.place(compared, 0.5, 0.75), 3)
    film.button(True)
    for x in (0.85, 0.15, 0.6):
        film.glide(film.place(compared, x, 0.75), 6)
    film.button(False)
    page.script("document.getElementById('pin').click()")
    film.choose("#method", "sgm")
    page.script("viewer.look_at({views: ['left', 'cloud', 'cloud', 'validity']})")
    film.glide(film.place(compared, 0.6, 0.6), 4)
    film.button(True)
    film.glide(film.place(compared, 0.2, 0.5), 9)
    film.glide(film.place(compared, 0.75, 0.56), 11)
    film.button(False)
    film.still(4)


def save_recording(pictures, file, width=960):
    """Pictures that stay are one, shown longer."""
    kept, times = [], []
    for picture in pictures:
        if kept and picture is kept[-1]:
            times[-1] += 100
        else:
            kept.append(picture)
            times.append(100)
    small = [p.resize((width, round(p.height * width / p.width)), Image.Resampling.LANCZOS) for p in kept]
    small[0].save(file, save_all=True, append_images=small[1:], duration=times, loop=0, quality=58, method=6)
    print(f"{file}: {len(small)} pictures, {file.stat().st_size / 1e6:.2f} MB")


def viewer(*arguments):
    call = [sys.executable, "-m", "stereopsis", "view", *map(str, arguments), "--device", "cpu", "--paused"]
    return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def looked_at(film, change):
    film.page.script(f"viewer.look_at({change})")
    film.page.script("return new Promise((done) => setTimeout(done, 1500))")
    film.undisturbed(tries=100)


def three(film, folder):
    page = film.page
    page.script("viewer.pixel = {x: 345, y: 285, held: true}; viewer.changed('pixel')")
    looked_at(film, "{layout: 2, views: ['left', 'disparity', 'cloud', 'validity']}")
    film.take().save(folder / "view.jpg", quality=88)
    page.script("document.documentElement.dataset.theme = viewer.look.theme = 'light'")
    looked_at(film, "{layout: 4, views: ['right', 'depth', 'error', 'validity']}")
    film.take().save(folder / "view-four.jpg", quality=88)
    page.script("viewer.pixel = null; viewer.changed('pixel'); document.documentElement.dataset.theme = viewer.look.theme = 'dark'")
    film.choose("#method", "prehn-window")
    page.press("c")
    page.settle()
    film.choose("#method", "sgm")
    looked_at(film, "{layout: 2, views: ['cloud', 'compare', 'cloud', 'validity']}")
    film.take().save(folder / "view-compare.jpg", quality=88)


def main():
    folder = pathlib.Path(sys.argv[1])
    driver = measure.browser()
    rig = pathlib.Path(tempfile.mkdtemp()) / "rig.yml"
    st.Rig(focal=520.0, baseline=0.12, cx_left=320, cy=240, unit="m", size=(640, 480)).write(rig)
    try:
        for work, size, theme, scene in (
            (three, (1440, 950), "dark", "synth:table"),
            (lambda film, _: record(film), (1200, 860), "dark", "synth:table,640x480x64,moving"),
        ):
            process = viewer(scene, "--calib", rig)
            film = Film(driver, process, size, theme)
            work(film, folder)
            process.terminate()
            process.wait()
        save_recording(film.pictures, folder / "view.webp")
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
