#!/usr/bin/env python3
"""Searches all registered costs × aggregations × optimisations × refinements for those that none beats in error and time.

    docs/front.py --data DIR --generated DIR --save FILE.json [--device cuda:0] [--seconds 240] [--processes 6]
    docs/front.py --from FILE.json

Both folders hold scenes with a dataset.json; `stereopsis synth --random --count 12 …` makes generated ones. First every
combination is scored at several scales of its penalties, and every method as it is, then the best of each class of time are
improved by coordinate search, one parameter at a time. Errors are relative to those of `sgm`: the mean over the datasets, each with one vote, of
which the generated scenes are one. Times are of 1280×960×128, images on the device, taken behind all else by one process.
Scores that FILE.json already holds are not computed again, so that the next call continues one that ended early. A
call with --seconds 0 only measures times. --from prints the front.
"""

import argparse
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean
from threading import Lock

from combinations import AGGREGATIONS, COSTS
from harness import DOCS, number, table

FAST = [a for a in AGGREGATIONS if a != "asw"]  # a tenth of a second a match
# Penalties, and what they are multiplied by; those of `sgm` belong to costs of up to 58.
OPTIMISATIONS = {"none": {}, "sgm": {"p1": 20, "p2": 100}, "scanline": {"p1": 127, "p2": 381},
                 "dynamic_programming": {"p1": 12, "p2": 40}, "belief_propagation": {"slope": 10, "truncation": 40}}
SCALES = (0.4, 1, 2)
METHODS = ["sgm-learned", "sgm-learned-fast", "ad-census", "costfilter", "census-guided", "zncc", "banz-sgm", "realtime-dp"]
SWITCHES = ["left_right.enabled", "speckle.enabled", "median.enabled", "vote_fill.enabled", "median2.enabled",
            "propagation.enabled", "repair.enabled"]
NEVER_MOVED = ("region.", "confidence.", "density.", "fill.", "select.border", "optimisation.paths")
STEPS = (0.6, 1.6)
CLASSES = (0.6, 1.0, 2.0, 6.0)  # times `sgm`'s: of each the best are improved
SIZE, CHUNK = "1280x960x128", 16


def name_of(setting):
    """A setting has the method that it begins from, then what is set."""
    setting = dict(setting)
    return setting.pop("method") + "".join(("," if i else ":") + f"{k}={v}" for i, (k, v) in enumerate(setting.items()))


def structures():
    """Returns the settings in random order, so that a search that ends early has seen some of each kind."""
    found = [{"method": m} for m in METHODS]
    for cost, aggregation, (optimisation, penalties) in itertools.product(COSTS, FAST, OPTIMISATIONS.items()):
        for scale in SCALES if penalties else (1,):
            setting = {"method": "sgm", "cost.stage": cost, "aggregation.stage": aggregation, "optimisation.stage": optimisation}
            found.append(setting | {f"optimisation.{p}": max(1, round(scale * v)) for p, v in penalties.items()})
    random.Random(1).shuffle(found)
    return found


def error_of(measures, dataset):
    """v2: the mean of its three regions; KITTI: D1; else bad 1.0 of what both views see."""
    if dataset == "middlebury_v2":
        return mean(m["bad1.0"] for m in measures.values())
    if dataset.startswith("kitti"):
        return measures.get("all", measures["nonocc"])["d1"]
    return measures["nonocc"]["bad1.0"]


class Search:
    def __init__(self, options):
        self.options, self.until = options, 0
        self.tried = {}  # by name: setting, error by dataset, parameters
        self.refused = {}  # by name: the sentence
        self.saving = Lock()

    def save(self):
        with self.saving:
            self.options.save.write_text(json.dumps({"device": self.options.device, "tried": dict(self.tried)}))

    def bench(self, settings, *more):
        """The results by name; those that are refused are missing."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "bench.json"
            call = [self.options.command, "bench", "--device", self.options.device, "--no-peers", "--json", file, *more]
            call += [part for s in settings for part in ("--method", name_of(s))]
            ended = subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if ended.returncode == 0:
                return {r["method"]: r for r in json.loads(file.read_text())["results"]}
        if len(settings) == 1:
            said = (ended.stderr.strip().splitlines() or [f"ended with {ended.returncode}"])[-1]
            if ended.returncode == 2:  # the call is wrong, and will be
                self.refused[name_of(settings[0])] = said
            else:
                print(f"{name_of(settings[0])}: {said}", file=sys.stderr)
            return {}
        return {name: r for s in settings for name, r in self.bench([s], *more).items()}

    def score(self, settings):
        """Measures the errors of settings that have not been tried, as long as there is time."""
        new = {name_of(s): s for s in settings if name_of(s) not in self.tried | self.refused}
        chunks = [list(new.values())[i:i + CHUNK] for i in range(0, len(new), CHUNK)]

        def one(chunk):
            if time.time() > self.until:
                return
            found = {}
            for folder in (self.options.data, self.options.generated):
                for name, r in self.bench(chunk, "--dataset", folder, "--repeat", "1").items():
                    errors = {d: error_of(a["measures"], d) for d, a in r["average"].items()}
                    ms = {d: a["ms"] for d, a in r["average"].items()}
                    known = found.setdefault(name, {"setting": new[name], "errors": {}, "ms": {}})
                    known["errors"] |= errors
                    known["ms"] |= ms
                    known["parameters"] = r["parameters"]
            self.tried.update(found)
            self.save()

        with ThreadPoolExecutor(self.options.processes) as pool:
            list(pool.map(one, chunks))

    def relative(self, name):
        own, reference = self.tried[name]["errors"], self.tried["sgm"]["errors"]
        return mean(own[d] / reference[d] for d in reference) if own.keys() == reference.keys() else float("inf")

    def slowness(self, name):
        own, reference = self.tried[name]["ms"], self.tried["sgm"]["ms"]
        return mean(own[d] / reference[d] for d in reference)

    def best_within(self, times, count):
        fast_enough = [n for n in self.tried if self.slowness(n) <= times]
        return sorted(fast_enough, key=self.relative)[:count]

    def neighbours(self, name):
        """One parameter changed."""
        setting, parameters = self.tried[name]["setting"], self.tried[name]["parameters"]
        for switch in SWITCHES:
            if switch in parameters:
                yield setting | {switch: "false" if str(parameters[switch]).lower() == "true" else "true"}
        for key, value in parameters.items():
            if key.startswith(NEVER_MOVED) or isinstance(value, (bool, str)) or not value:
                continue
            for step in STEPS:
                moved = round(step * value) if isinstance(value, int) else round(step * value, 4)
                yield setting | {key: moved}

    def improve(self, times):
        """Coordinate search from the best three of a class of time: all neighbours of the best, until none is better."""
        last = None
        while time.time() < self.until:
            best = self.best_within(times, 3)
            if best == last:
                return
            last = best
            self.score([n for b in best for n in self.neighbours(b)])

    def front(self):
        """Returns the settings that have fewer errors than all faster ones, by rising time."""
        names, best = [], float("inf")
        for name in sorted((n for n in self.tried if "time" in self.tried[n]), key=lambda n: self.tried[n]["time"]):
            if self.relative(name) < best:
                best = self.relative(name)
                names.append(name)
        return names

    def take_times(self):
        """Measures the times of all settings that may be on the front."""
        names = [n for times in CLASSES for n in self.best_within(times, 12)] + ["sgm"]
        settings = [self.tried[n]["setting"] for n in dict.fromkeys(names)]
        for first in range(0, len(settings), CHUNK):
            found = self.bench(settings[first:first + CHUNK], "--size", SIZE, "--repeat", "5", "--no-stream")
            for name, r in found.items():
                self.tried[name]["time"] = r["median_ms"]

    def run(self):
        if self.options.save.exists():
            self.tried = json.loads(self.options.save.read_text())["tried"]
        self.until = time.time() + max(1, self.options.seconds / 2)
        self.score([{"method": "sgm"}])
        self.score(structures())
        print(f"{len(self.tried)} combinations; {len(self.refused)} refused:", *sorted(set(self.refused.values()))[:5], sep="\n", flush=True)
        for times in CLASSES:
            self.until = time.time() + self.options.seconds / 2 / len(CLASSES)
            self.improve(times)
        print(f"{len(self.tried)} settings", flush=True)
        self.take_times()
        self.save()
        return {"tried": self.tried}


def page(results):
    search = Search(None)
    search.tried = results["tried"]
    datasets = list(search.tried["sgm"]["errors"])
    rows = []
    for name in ["sgm", *search.front()]:
        own = search.tried[name]
        rows.append([f"`{name}`", number(own["time"], 2), number(search.relative(name), 3)]
                    + [number(own["errors"][d], 2) for d in datasets])
    return f"{len(search.tried)} settings\n\n" + table(["pipeline", "ms", "relative error"] + datasets, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--generated", type=Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--command", default=DOCS.parent / "build/release/bin/stereopsis")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--from", dest="saved", type=Path)
    options = parser.parse_args()
    if options.saved:
        print(page(json.loads(options.saved.read_text())))
    elif options.data and options.generated and options.save:
        print(page(Search(options).run()))
    else:
        parser.error("name --data, --generated and --save; or --from FILE.json")


if __name__ == "__main__":
    main()
