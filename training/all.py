#!/usr/bin/env python3
"""Trains all shipped weights from nothing, in parts.

    python3 training/all.py --stereopsis build/release/bin/stereopsis --output weights/ \\
      --meshes build/release/bin/mesh_scenes --pack pack/

A part whose results are in the output folder is left out, so that the same call continues an earlier one. With --one, the
call ends after one part; the exit code is 3 while parts are left. The parts are the cost networks (32 and 16 channels at
once), the scenes and maps of the confidence, and the confidence network. The scripts train.py and confidence.py train one
network each.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONTINUE = 3  # exit code: call again
# Options of a test run, which takes minutes on a CPU and gives useless weights.
TINY_COST = ("--iterations", 2, "--batch", 1, "--shards", 1, "--shard", 4, "--log-every", 1)
TINY_DATA = ("--shards", 6, "--shard", 1)
TINY_CONFIDENCE = ("--iterations", 2, "--batch", 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stereopsis", required=True, help="the command, which renders and matches the scenes")
    parser.add_argument("--meshes", help="the program mesh_scenes, which renders about half of the confidence's scenes")
    parser.add_argument("--pack", help="its folder of meshes")
    parser.add_argument("--output", type=Path, required=True, help="folder for weights, logs and scenes")
    parser.add_argument("--match-device", default="cpu", help="device that matches scenes, such as cuda:0 [cpu]")
    parser.add_argument("--data-seconds", type=int, default=420, help="time limit of rendering and matching [420]")
    parser.add_argument("--maps", type=int, default=5000, help="largest number of maps, which the GPU's memory limits [5000]")
    parser.add_argument("--one", action="store_true", help="end after one part")
    parser.add_argument("--tiny", action="store_true", help="test the parts with tiny sizes")
    return parser.parse_args()


def call(script, *options):
    return [sys.executable, HERE / script, *options]


def run(*calls):
    """Runs calls at the same time, and raises an error if one of them fails."""
    running = [subprocess.Popen([str(part) for part in call]) for call in calls]
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit(f"a part failed with the exit codes {codes}; its messages are above")


def cost_networks(o):
    shared = ("--scenes", o.output / "scenes", *(TINY_COST if o.tiny else ()))
    of = lambda channels: ("--channels", channels, "--output", o.output / f"learned{channels}.weights")
    run(call("train.py", "--stereopsis", o.stereopsis, *of(32), *shared), call("train.py", *of(16), *shared))


def data_options(o):
    return ("--scenes", o.output / "confidence-scenes", *(TINY_DATA if o.tiny else ("--shards", 400)))


def maps(o):
    meshes = ("--meshes", o.meshes, "--pack", o.pack) if o.meshes else ()
    limit = () if o.tiny else ("--data-seconds", o.data_seconds)
    run(call("confidence.py", "--stereopsis", o.stereopsis, *meshes, "--learned", o.output / "learned32.weights", "--data-only",
             "--match-device", o.match_device, "--output", o.output / "maps.weights", *limit, *data_options(o)))  # fmt: skip
    (o.output / "maps.done").touch()


def confidence_network(o):
    shared = ("--existing", "--maps", o.maps, *data_options(o), *(TINY_CONFIDENCE if o.tiny else ()))
    run(call("confidence.py", "--output", o.output / "confidence.weights", *shared))


PARTS = {  # with the files that are written last
    cost_networks: ("learned32.json", "learned16.json"),
    maps: ("maps.done",),
    confidence_network: ("confidence.weights",),
}


def main():
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    left = [part for part, files in PARTS.items() if not all((options.output / file).exists() for file in files)]
    for part in left[:1] if options.one else left:
        print(f"part: {part.__name__}", flush=True)
        part(options)
    if options.one and len(left) > 1:
        sys.exit(CONTINUE)


if __name__ == "__main__":
    main()
