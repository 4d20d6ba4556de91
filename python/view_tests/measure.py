"""A program to run by hand: it measures the viewer's speed on this machine, next to `match`, and whether its memory
grows.

python measure.py [--seconds 20]       (in the environment of ./dev view-test, STEREOPSIS_COMMAND set)
"""

import argparse
import contextlib
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


def processes(root):
    """Returns a process and all its descendants as (pid, Chromium's type of the process, or its name)."""
    children = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    waiting = [root]
    while waiting:
        waiting += children.get(waiting[0], [])
        yield waiting.pop(0)


def memory(root, part=""):
    """MiB, without what is shared, of those whose call has this part."""
    total = 0
    for pid in processes(root):
        with contextlib.suppress(OSError):
            if part in pathlib.Path(f"/proc/{pid}/cmdline").read_text():
                lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return total / 1024


def browser():
    """Starts the browser as a user has it, without the tests' log of all messages, which would take most of the time."""
    options = webdriver.ChromeOptions()
    for flag in conftest.FLAGS:
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def rates_of(page, seconds):
    """Shown and matched a second, of the page's own figures, which are means over two seconds."""
    time.sleep(2)
    found = []
    for _ in range(max(1, round(seconds / 2) - 1)):
        time.sleep(2)
        found.append([float(page.find(f"#rate-{name}").text.replace("–", "0")) for name in ("showing", "matching")])
    return [statistics.mean(column) for column in zip(*found, strict=True)]


def measure_page(folder, seconds, match):
    driver = browser()
    call = [sys.executable, "-m", "stereopsis", "view", folder, "--disparities", "64", "--device", "cpu"]
    process = subprocess.Popen(list(map(str, call)), stdout=subprocess.PIPE, text=True)
    try:
        page = Page(driver, process.stdout.readline().strip(), process)
        driver.set_script_timeout(200)
        page.press("2")
        for passed in range(0, max(1, round(seconds)), 60):
            shown, matched = rates_of(page, min(60, seconds - passed))
            heap = page.script("return performance.memory.usedJSHeapSize") / 2**20
            parts = [memory(process.pid), memory(driver.service.process.pid, "--type=renderer"), heap, memory(driver.service.process.pid, "--type=gpu-process")]
            print(
                f"shown {shown:.1f} a second, matched {matched:.1f} ({matched / match:.2f} of match); MiB: server {parts[0]:.0f}, "
                f"page {parts[1]:.0f} (of it scripts {parts[2]:.1f}), drawing {parts[3]:.0f}",
                flush=True,
            )
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
        process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_sequence(folder)
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; 640×480×64 sgm")
        match = rate_of_match(os.environ["STEREOPSIS_COMMAND"], folder)
        print(f"match: {match:.1f} pairs a second, files written")
        print(f"viewer without a page: {rate_of_engine(folder, min(seconds, 20)):.1f} pairs a second", flush=True)
        measure_page(folder, seconds, match)
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
