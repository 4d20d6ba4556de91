"""A viewer and a browser: the distribution's Chromium, without a window."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import stereopsis as st

selenium = pytest.importorskip("selenium", reason="selenium drives the browser; ./dev view-test installs it")
from page import Page  # noqa: E402
from selenium import webdriver  # noqa: E402

FLAGS = ["--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
FLAGS += ["--disable-dev-shm-usage", "--window-size=1280,800", "--disable-background-networking"]


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    chromium, helper = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not helper:
        pytest.skip("chromium and chromedriver are not installed; ./dev view-test installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    downloads = tmp_path_factory.mktemp("downloads")
    automatic = "profile.default_content_setting_values.automatic_downloads"  # several of a page
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads), automatic: 1})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(helper))
    driver.downloads = downloads
    yield driver
    driver.quit()


@pytest.fixture
def view(driver):
    """view(SOURCE, …) starts a viewer and opens its page."""
    running = []

    def start(*arguments, program=("-m", "stereopsis")):
        call = [sys.executable, *map(str, program), "view", *map(str, arguments), "--device", "cpu"]
        running.append(subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        address = running[-1].stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), running[-1].stderr.read()
        return Page(driver, address, running[-1])

    yield start
    for process in running:
        process.terminate()
        assert process.wait(20) == 0, process.stderr.read()


@pytest.fixture(scope="session")
def command():
    program = os.environ.get("STEREOPSIS_COMMAND") or pathlib.Path(st.__file__).parent / "bin" / "stereopsis"

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def sequence(tmp_path):
    """A folder with left/ and right/, four pairs as files."""
    scene = st.synth("garden", width=240, height=160, disparities=32, seed=3)
    for side in ("left", "right"):
        (tmp_path / "pairs" / side).mkdir(parents=True)
        for index in range(4):
            write_ppm(tmp_path / "pairs" / side / f"{index:03}.ppm", getattr(scene, side)[:, 8 * index : 8 * index + 200])
    return tmp_path / "pairs"


def write_ppm(file, image):
    file.write_bytes(f"P6\n{image.shape[1]} {image.shape[0]}\n255\n".encode() + image.tobytes())
