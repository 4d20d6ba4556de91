"""By hand: how fast the viewer is on this machine, next to `match`; and whether its memory grows.

python measure.py [--seconds 20]       (in the environment of ./dev view-test, STEREOPSIS_COMMAND set)
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import conftest
import stereopsis as st
from page import Page
from selenium import webdriver
from stereopsis.view.engine import Engine
from stereopsis.view.settings import Settings
from stereopsis.view.sources import open_sources, synthetic

LATENCY = """
const [values, done] = arguments;
const slider = document.querySelector('[data-parameter="optimisation.p1"] input[type=range]');
const found = [];
const next = () => {
  if (!values.length) return done(found);
  const before = viewer.state.revision, began = performance.now();
  const look = () => {
    if (Number(document.body.dataset.shown) > before) { found.push(performance.now() - began); setTimeout(next, 300); }
    else requestAnimationFrame(look);
  };
  slider.value = values.shift();
  slider.dispatchEvent(new Event("input"));
  requestAnimationFrame(look);
};
next();
"""


def write_sequence(folder):
    moving = synthetic("synth:garden,640x480x64,moving")
    for side in ("left", "right"):
        (folder / side).mkdir(parents=True)
    for index in range(moving.frames):
        frame = moving.read(index)
        conftest.write_ppm(folder / "left" / f"{index:03}.ppm", frame.left)
        conftest.write_ppm(folder / "right" / f"{index:03}.ppm", frame.right)


def rate_of_match(command, folder):
    began = time.monotonic()
    call = [command, "match", folder / "left", folder / "right", "-o", folder / "out%03d.pfm", "--disparities", "64"]
    subprocess.run([*map(str, call), "--device", "cpu", "--quiet"], check=True)
    return 48 / (time.monotonic() - began)


def rate_of_engine(folder, seconds):
    settings = Settings(st.Pipeline("sgm"), device="cpu", disparities=(0, 64))
    engine = Engine(open_sources([str(folder)], None, 0), settings)
    engine.start()
    time.sleep(2)
    first, began = engine.shown.serial, time.monotonic()
    time.sleep(seconds)
    rate = (engine.shown.serial - first) / (time.monotonic() - began)
    engine.close()
    return rate


def memory(process):
    lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def measure_page(folder, seconds):
    options = webdriver.ChromeOptions()
    for flag in conftest.FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    call = [sys.executable, "-m", "stereopsis", "view", folder, "--disparities", "64", "--device", "cpu"]
    process = subprocess.Popen(list(map(str, call)), stdout=subprocess.PIPE, text=True)
    try:
        page = Page(driver, process.stdout.readline().strip(), process)
        driver.set_script_timeout(200)
        page.press("2")
        before = memory(process)
        for _ in range(max(1, round(seconds / 20))):
            time.sleep(min(seconds, 20))
            rates = [page.find(f"#rate-{name}").text for name in ("showing", "matching")]
            print(f"shown {rates[0]} a second, matched {rates[1]}; {memory(process):.0f} MiB (after the start {before:.0f})")
        values = [0.2, 0.35, 0.25, 0.38] * 5
        playing = driver.execute_async_script(LATENCY, values)
        page.click("#play")
        time.sleep(1)
        paused = driver.execute_async_script(LATENCY, values)
        for name, found in (("playing", playing), ("paused", paused)):
            print(f"slider to picture, {name}: median {statistics.median(found):.0f} ms, largest {max(found):.0f} ms")
    finally:
        driver.quit()
        process.terminate()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_sequence(folder)
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; 640×480×64 sgm")
        print(f"match: {rate_of_match(os.environ['STEREOPSIS_COMMAND'], folder):.1f} pairs a second, files written")
        print(f"viewer without a page: {rate_of_engine(folder, seconds):.1f} pairs a second")
        measure_page(folder, seconds)
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
