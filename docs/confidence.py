"""Measures pixels and confidences on scenes with ground truth, beside OpenCV: the part `confidence` of docs/measure.py.

density.json in docs/measured has the share of measured pixels of each method and peer, and the share of wrong ones among them.
curves.json (images/curves.svg) has both shares as the confidence or the peer's checks become stricter. reliability.json
(images/reliability.svg) shows how well the confidence predicts the share of good pixels. Indoor scenes count their non-occluded pixels, where a disparity is wrong if
it is off by more than 1 pixel; roads count all pixels with known truth, where it is wrong from 3 pixels on. Scenes have equal weight.
"""

import time

import numpy as np
import peers
from harness import match, scenes, write

METHODS = {"sgm": ("", "remeasure", "costs"), "balanced": ("", "remeasure"), "sgm-learned": ("", "remeasure"),
           "zncc": ("", "remeasure"), "banz-sgm": ("",)}
VARIANTS = {"": (), "remeasure": ("--set", "density.stage=remeasure"), "costs": ("--set", "confidence.stage=none")}
PEERS = ("3WAY", "HH")
# The checks of OpenCV's matchers, from none to strict.
CHECKS = [{"disp12MaxDiff": -1, "uniquenessRatio": 0, "speckleWindowSize": 0, "speckleRange": 0},
          {"disp12MaxDiff": -1, "uniquenessRatio": 0}, {"uniquenessRatio": 0, "speckleWindowSize": 0},
          *({"uniquenessRatio": unique} for unique in (0, 5, 10, 15, 20, 30, 40)),
          *({"uniquenessRatio": unique, "speckleWindowSize": size, "speckleRange": 2} for size in (100, 400) for unique in (0, 5, 10, 15, 20, 30)),
          {"uniquenessRatio": 60}, {"uniquenessRatio": 50, "speckleWindowSize": 400, "speckleRange": 2},
          *({"uniquenessRatio": unique, "speckleWindowSize": 400, "speckleRange": 2} for unique in (35, 40, 45))]
THRESHOLDS = [*(round(0.05 * i, 2) for i in range(19)), 0.92, 0.94, 0.96, 0.97, 0.98, 0.99]
BINS = 10


def labels():
    return [f"{method}, {variant}" if variant else method for method, variants in METHODS.items() for variant in variants]


def limit_of(scene):
    return 3 if scene.road else 1


def shares(kept, scene, wrong):
    """Returns the share of the counted pixels that are kept, and the share of wrong ones among them."""
    kept = kept & scene.counted
    return [float(kept.sum() / scene.counted.sum()), float(wrong[kept].mean()) if kept.any() else 0.0]


def bins_of(confidence, good):
    """Returns, by bin of the confidence, the share of pixels, their mean confidence and the share of good ones, as sums."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return [np.bincount(bins, weights, BINS) / len(bins) for weights in (None, confidence, good)]


def area_of(confidence, wrong):
    """Returns the area under the sparsification curve: the mean share of wrong pixels among the most confident ones."""
    ordered = wrong[np.argsort(-confidence, kind="stable")]
    return float((np.cumsum(ordered) / np.arange(1, len(ordered) + 1)).mean())


def measure_method(options, scene, label):
    method, _, variant = label.partition(", ")
    disparity, validity, confidence = match(options.command, scene, method, "--device", options.device, *VARIANTS[variant])
    wrong, measured, known = scene.wrong(disparity, limit_of(scene)), validity == 0, scene.regions[scene.widest]
    found = {"default": shares(measured, scene, wrong), "area": area_of(confidence[scene.counted], wrong[scene.counted]),
             "whole": float(wrong[scene.counted].mean()), "d1": scene.measures(disparity)[scene.widest]["d1"] / 100,
             "curve": [shares(measured & (confidence >= t), scene, wrong) for t in THRESHOLDS],
             "all pixels": [shares(confidence >= t, scene, wrong) for t in THRESHOLDS]}
    if not variant:
        found["bins"] = np.round(bins_of(confidence[known], ~scene.wrong(disparity)[known]), 6).tolist()
    return found


def measure_peer(scene, peer):
    """Returns the shares for each of CHECKS, and for those of the table first."""
    def one(checks):
        disparity = peers.disparity_of(peer, peers.chosen(peer, scene.dataset), scene, **checks)
        return shares(np.isfinite(disparity), scene, scene.wrong(disparity, limit_of(scene)))
    return {"default": one({}), "curve": [one(checks) for checks in CHECKS]}


def front(points):
    """Returns the points than which none has more measured and fewer wrong pixels, the most measured first."""
    best = []
    for measured, wrong in sorted(points, reverse=True):
        if not best or wrong < best[-1][1]:
            best.append([measured, wrong])
    return best


def at_share(curve, share):
    """Returns the share of wrong pixels where a curve has a share of measured pixels; None outside the curve."""
    points = sorted(curve)
    if not points[0][0] <= share <= points[-1][0]:
        return None
    return float(np.interp(share, *zip(*points)))


def mean_of(rows, key):
    return np.mean([row[key] for row in rows], 0).round(4).tolist()


def summarise(raw, kind):
    """Returns density, curves and the areas of the scenes of one kind."""
    density, curves = {}, {}
    for name, found in raw.items():
        rows = [value for scene, value in found.items() if scene.startswith("kitti") == (kind == "road")]
        measured, wrong = mean_of(rows, "default")
        density[name] = {"measured": measured, "wrong": wrong, "scenes": len(rows)}
        density[name] |= {key: mean_of(rows, key) for key in ("area", "whole", "d1") if key in rows[0]}
        points = mean_of(rows, "curve")
        curves[name] = {"default": [measured, wrong], "curve": front(points + [[measured, wrong]])}
        if "all pixels" in rows[0]:
            curves[name]["all pixels"] = mean_of(rows, "all pixels")
    for name, found in density.items():
        found["wrong_at_share_of"] = {other: round(value, 4) for other, o in density.items()
                                      if (value := at_share(curves[name]["curve"], o["measured"])) is not None}
    return density, curves


def reliability(raw):
    sums = {}
    for found in raw.values():
        for scene, value in found.items():
            if "bins" in value:
                dataset = sums.setdefault(scene.split("/")[0], np.zeros((3, BINS)))
                dataset += value["bins"]
    datasets = {}
    for dataset, (count, confidence, good) in sorted(sums.items()):
        curve = np.stack([confidence, good]) / np.maximum(count, 1e-12)
        datasets[dataset] = {"calibration_error": round(float(np.abs(good - confidence).sum() / count.sum()), 3),
                             "share": (count / count.sum()).round(4).tolist(), "confidence": curve[0].round(4).tolist(),
                             "good": curve[1].round(4).tolist()}
    return {"methods": ",".join(METHODS), "datasets": datasets}


def measure(options, opencv, ours):
    """Fills the results by name and scene; returns whether nothing is left to do."""
    until = time.monotonic() + options.seconds
    jobs = [(opencv, peers.NAMES[peer], lambda scene, peer=peer: measure_peer(scene, peer)) for peer in PEERS]
    jobs += [(ours, label, lambda scene, label=label: measure_method(options, scene, label)) for label in labels()]
    needless = left_out(options)
    for scene in scenes(options.dataset, options.roads):
        for results, name, run in jobs:
            if scene.name not in results.setdefault(name, {}) and not (results is opencv and scene.name in needless):
                if time.monotonic() > until:
                    return False
                results[name][scene.name] = run(scene)
    return True


def left_out(options):
    """Returns the roads of the six datasets, which only the reliability counts: road figures are those of the twelve pairs."""
    return {scene.name for scene in scenes(options.dataset) if scene.road} - {scene.name for scene in scenes(options.roads)}


def save(raw, options):
    about = {"commit": options.commit, **peers.settings()}
    needless = left_out(options)
    counted = {name: {scene: value for scene, value in found.items() if scene not in needless} for name, found in raw.items()}
    kinds = {kind: summarise(counted, kind) for kind in ("indoor", "road")}
    write("density", about | {"maps": {name: {kind: kinds[kind][0][name] for kind in kinds} for name in raw}})
    write("curves", about | {"checks": CHECKS, "thresholds": THRESHOLDS, **{kind: kinds[kind][1] for kind in kinds}})
    write("reliability", about | reliability(raw))
