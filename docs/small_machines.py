#!/usr/bin/env python3
"""Measures the methods that `match --budget` chooses from as on small machines: few threads, few SIMD instructions, small images.

    docs/small_machines.py times                             frames a second on this x86-64 machine
    docs/small_machines.py instructions --aarch64 PROGRAM --plugin FILE   instructions per pixel, counted by QEMU

Both write docs/measured/small-machines.json, and continue a call that was interrupted. docs/measure.py pages writes the table into
choosing.md. Thread counts above the number of cores are left out. Times of one thread are processor times. Other programs, and other
users of a shared machine, slow them down by up to a factor of two; the largest load during the measurement is in the file.

The command must have SSE4 and AVX2 (STEREOPSIS_SIMD_TARGETS=all). PROGRAM is the command of `./dev build aarch64`, whose libraries are
in build/aarch64-sysroot. FILE is a plugin that prints `total insns: N`, such as libinsn.so of QEMU's tests/plugin. The instructions of a
pair are those of a call with two timed runs less those of a call with one.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import fill

from budget import METHODS
from harness import ROOT, bench, commit_of, number, parser_of, processor, read, table, title, write

SIZES = ["320x240x48", "640x480x64", "1280x720x96"]
COUNTED = "320x240x48"  # instructions per pixel; QEMU takes minutes for larger images
SIMD = {"sse4": "SSE4", "avx2": "AVX2"}
THREADS = [1, 4]
CPUS = {"cortex-a72": "A72", "cortex-a76": "A76"}  # without and with dot products of bytes


def begin(part, about):
    """Returns all results, and those of a part, without the part's results of another build or machine."""
    results = read("small-machines")
    if any(results.get(part, {}).get(key) != value for key, value in about.items()):
        results[part] = dict(about)
    return results, results[part]


def measure_times(options):
    cores = len(os.sched_getaffinity(0))
    results, times = begin("times", {"machine": processor(), "cores": cores, "commit": commit_of(options.command)})
    for size in SIZES:
        for method in reversed(METHODS):  # the slow ones come last
            for simd in SIMD:
                for threads in [count for count in THREADS if count <= cores]:
                    known = times.setdefault("ms", {}).setdefault(size, {}).setdefault(method, {})
                    key = f"{simd}, {threads}"
                    if key in known:
                        continue
                    found = bench(options.command, "--device", "cpu", "--no-peers", "--no-stream", "--size", size, "--simd", simd, "--threads", threads,
                                  "--repeat", options.repeat, methods=[method])["results"][0]
                    known[key] = float(f"{found['median_ms']:.4g}")
                    times.setdefault("processor_ms", {}).setdefault(size, {}).setdefault(method, {})[key] = float(f"{found['processor_ms']:.4g}")
                    times["most_load"] = max(times.get("most_load", 0), round(os.getloadavg()[0], 1))
                    write("small-machines", results)


def count(emulator, plugin, program, scene, method, runs, simd, environment):
    """Returns the number of instructions of a call that matches a scene so many times, and once more."""
    call = [*emulator, "-plugin", plugin, program, "bench", "--device", "cpu", "--threads", "1", "--no-peers", "--no-stream", "--dataset", scene,
            "--method", method, "--repeat", str(runs), "--simd", simd]
    done = subprocess.run([str(part) for part in call], capture_output=True, text=True, env={**os.environ, **environment})
    found = re.search(r"total insns: (\d+)", done.stdout + done.stderr)
    if done.returncode or not found:
        sys.exit(f"{emulator[0]} counted no instructions: {done.stderr.strip()}")
    return int(found[1])


def measure_instructions(options):
    if not options.aarch64 or not options.plugin:
        sys.exit("instructions are counted with the command for AArch64 and a plugin of QEMU; give --aarch64 PROGRAM and --plugin FILE")
    qemu = subprocess.run(["qemu-aarch64", "--version"], check=True, capture_output=True, text=True).stdout.split()[2]
    results, counted = begin("instructions", {"qemu": qemu, "size": COUNTED, "commit": commit_of(options.command)})
    arm = ["qemu-aarch64", "-L", options.sysroot]
    builds = {cpu: (arm, options.aarch64, "neon", {"QEMU_CPU": cpu}) for cpu in CPUS}
    builds["sse4"] = ["qemu-x86_64", "-cpu", "max"], options.command, "sse4", {}
    width, height, disparities = COUNTED.split("x")
    counted.setdefault("per_pixel", {})
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.command, "synth", "-o", folder, "--width", width, "--height", height, "--disparities", disparities, "--quiet"], check=True)
        for name, (emulator, program, simd, environment) in builds.items():
            for method in METHODS:
                known = counted["per_pixel"].setdefault(method, {})
                if name not in known:
                    one, two = (count(emulator, options.plugin, program, folder, method, runs, simd, environment) for runs in (1, 2))
                    known[name] = round((two - one) / (int(width) * int(height)))
                    write("small-machines", results)


def tables():
    """Returns the tables of choosing.md."""
    results = read("small-machines")
    times, counted = results.get("times", {}), results.get("instructions", {}).get("per_pixel", {})
    found = {}
    if times:
        columns = [(f"{simd}, {threads}", f"{name}, {threads} thread{'s' * (threads > 1)}") for threads in THREADS for simd, name in SIMD.items()]
        rows = [[size.replace("x", "×"), f"`{title(method)}`", *(frames(times["processor_ms" if key.endswith(" 1") else "ms"].get(size, {}).get(method, {}).get(key)) for key, _ in columns)]
                for size in SIZES for method in METHODS]
        load = times["most_load"]
        busy = f"Other programs ran at the same time (load up to {load}) and slowed the methods down, so that the processor is faster than this. "
        note = (f"Measured on {times['cores']} cores of an {times['machine']}; frames of one thread are those of its processor time. "
                f"{busy if load > times['cores'] else ''}A dash: not measured; 4 threads need 4 cores.")
        found["small-machines"] = table(["size", "method", *(head for _, head in columns)], rows).replace("| --- | ---: |", "| --- | --- |", 1) + "\n\n" + fill(note, 120)
    if counted:
        rows = [[f"`{title(method)}`", *(number(counted.get(method, {}).get(name), 0) for name in ("sse4", *CPUS))] for method in METHODS]
        found["instructions"] = table(["method", "x86, SSE4", *(f"ARM, {name}" for name in CPUS.values())], rows)
    return found


def frames(ms):
    return number(ms and 1000 / ms, 1 if ms and ms > 100 else 0)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("job", choices=["times", "instructions"])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--aarch64", type=Path, metavar="PROGRAM", help="the command for AArch64")
    parser.add_argument("--sysroot", type=Path, default=ROOT / "build/aarch64-sysroot", help="folder of its libraries")
    parser.add_argument("--plugin", type=Path, metavar="FILE", help="plugin of QEMU that counts instructions")
    options = parser.parse_args()
    return measure_times(options) if options.job == "times" else measure_instructions(options)


if __name__ == "__main__":
    sys.exit(main())
