"""OpenCV's StereoSGBM, as pip installs it, beside st.cv2, on scenes with ground truth: the part `drop-in` of docs/measure.py.

Both have the same arguments and images, those of src/command/peers.json; st.cv2 ignores the parameters of OpenCV's own cost. Columns
that OpenCV leaves out do not count. Errors are shares of non-occluded pixels that are off by more than 1 pixel: of all pixels after holes
are filled by one rule, and of the pixels that each found. Times are processor times with one thread, and wall-clock times with two:
medians of RUNS runs by turns after a warm-up run.
"""

import statistics
import time

from harness import filled, number, read, scenes, table, write

RUNS = 5
THREADS = 2
CV2_MODES = {"3WAY": "MODE_SGBM_3WAY", "SGBM": "MODE_SGBM", "HH4": "MODE_HH4", "HH": "MODE_HH"}
OWN_COST = ("blockSize", "P1", "P2", "preFilterCap")  # parameters of OpenCV's cost, which st.cv2 rejects


class Ours:
    """The matcher of st.cv2 with a number of threads."""

    def __init__(self, mode, disparities, threads, checks):
        import stereopsis as st

        self.matcher = st.cv2.StereoSGBM_create(numDisparities=disparities, mode=mode, device="cpu", **checks)
        pipeline = self.matcher._grey.pipeline
        self.matcher._matcher, self.matcher._grey = (
            st.Matcher(pipeline=pipeline, disparities=(0, disparities), color=color, device="cpu", threads=threads) for color in ("bgr", "rgb"))

    def compute(self, left, right):
        return self.matcher.compute(left, right)


def median_times(matchers, pair, clock):
    """Returns the median time of each matcher's runs, in milliseconds."""
    times = {name: [] for name in matchers}
    for _ in range(RUNS + 1):
        for name, matcher in matchers.items():
            began = clock()
            matcher.compute(*pair)
            times[name].append(1000 * (clock() - began))
    return {name: statistics.median(ms[1:]) for name, ms in times.items()}


def scores_of(scene, found, counted):
    """Returns percentages: found, wrong once filled, and wrong among the found ones."""
    import numpy as np

    disparity = np.where(found < 0, np.nan, found / 16.0).astype(np.float32)
    there = counted & np.isfinite(disparity)
    return {"found": 100 * float(there.sum() / counted.sum()), "wrong_filled": 100 * float(scene.wrong(filled(disparity))[counted].mean()),
            "wrong_of_found": 100 * float(scene.wrong(disparity)[there].mean())}


def measure_scene(scene, mode):
    import cv2
    import peers

    disparities = -(-scene.disparities // 16) * 16
    setting = peers.chosen(mode, scene.dataset)
    pair = peers.images_of(scene.files, setting["images"])
    channels = peers.channels_of(pair[0])
    arguments = peers.arguments_of(mode, setting, channels)
    checks = {name: value for name, value in arguments.items() if name not in OWN_COST}
    theirs, (one, two) = peers.make_matcher(mode, arguments, disparities, channels), (Ours(peers.MODES[mode], disparities, n, checks) for n in (1, 2))
    counted = scene.regions["nonocc"].copy()
    counted[:, :disparities] = False
    result = {"opencv": scores_of(scene, theirs.compute(*pair), counted), "here": scores_of(scene, one.compute(*pair), counted)}
    cv2.setNumThreads(1)
    processor = median_times({"opencv": theirs, "here": one}, pair, time.process_time)
    cv2.setNumThreads(THREADS)
    wall = median_times({"opencv": theirs, "here": two}, pair, time.perf_counter)
    for name, scores in result.items():
        scores |= {"processor_ms": processor[name], "ms": wall[name]}
    return result


def measure(options):
    import cv2
    import peers
    from measure import CONTINUE, begin

    until = time.monotonic() + options.seconds
    chosen = scenes(options.dataset)
    results = begin("from-opencv", {"opencv": cv2.__version__, "commit": options.commit, "machine": options.machine, "peers": peers.read_table()["chosen"]})
    results["scenes"] = [scene.name for scene in chosen]
    modes = results.setdefault("modes", {})
    for mode in CV2_MODES:
        if mode in modes:
            continue
        if time.monotonic() > until:
            return CONTINUE
        each = [measure_scene(scene, mode) for scene in chosen]
        modes[mode] = {who: {key: statistics.mean(one[who][key] for one in each) for key in each[0][who]} for who in ("opencv", "here")}
        write("from-opencv", results)
    return 0


def tables():
    results = read("from-opencv")
    rows = []
    for mode, found in results["modes"].items():
        if "processor_ms" not in found["opencv"]:  # the file has an earlier form
            return {}
        both = [(found["opencv"][key], found["here"][key]) for key in ("wrong_filled", "found", "wrong_of_found", "ms", "processor_ms")]
        rows.append([f"`{CV2_MODES[mode]}`", *(f"{number(a, d)} / {number(b, d)}" for (a, b), d in zip(both, (2, 1, 2, 1, 1))), number(both[3][0] / both[3][1], 1),
                     number(both[4][0] / both[4][1], 1)])
    header = ["mode", "wrong, filled", "found", "wrong of found", "ms, two threads", "processor ms, one thread", "times as fast", "times as fast per core"]
    said = f"OpenCV {results['opencv']}; commit `{results['commit']}`; {results['machine']}. Each cell: OpenCV / Stereopsis.\n\n"
    return {"drop-in": said + table(header, rows)}
