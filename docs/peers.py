#!/usr/bin/env python3
"""Runs other stereo matchers with the settings of src/command/peers.json, which all programs that compare with them read.

    docs/peers.py choose --dataset DIR --roads DIR [--seconds N]     # measures the candidates, and writes the best into the table
    docs/peers.py time NAME… --left FILE --right FILE --disparities N [--threads N] [--repeat N]     # prints JSON
    docs/peers.py onnxruntime|openvino --network FILE.onnx --left FILE --right FILE [--threads N] [--repeat N]

NAME is BM, 3WAY, SGBM, HH4 or HH: OpenCV's matchers (opencv-python-headless). A time has the median wall-clock time and the mean
processor time of a run, in milliseconds. `choose` keeps the errors of all candidates in docs/measured/peer-candidates.json, and a
later call continues there.
"""

import argparse
import itertools
import json
import statistics
import sys
import time
from pathlib import Path

import cv2
import numpy as np
from harness import ROOT, parser_of, read, scenes, write

TABLE = ROOT / "src/command/peers.json"
MODES = {"3WAY": cv2.STEREO_SGBM_MODE_SGBM_3WAY, "SGBM": cv2.STEREO_SGBM_MODE_SGBM, "HH4": cv2.STEREO_SGBM_MODE_HH4,
         "HH": cv2.STEREO_SGBM_MODE_HH}
NAMES = {"BM": "OpenCV BM", **{mode: f"OpenCV SGBM {mode}" for mode in MODES}}


def read_table():
    return json.loads(TABLE.read_text())


def settings():
    """Returns what the results of OpenCV depend on."""
    return {"opencv": cv2.__version__, "peers": read_table()["chosen"]}


def kind_of(peer):
    return "StereoBM" if peer == "BM" else "StereoSGBM"


def set_of(dataset, sets):
    return next(name for name, beginning in sets.items() if dataset.startswith(beginning))


def chosen(peer, dataset):
    """Returns the setting of a peer for the scenes of a dataset."""
    table = read_table()
    return table["chosen"][peer][set_of(dataset, table["sets"])]


def arguments_of(peer, setting, channels, **checks):
    """Returns the parameters of OpenCV's matcher for images with a number of channels; `checks` replace those of the table."""
    kind = read_table()[kind_of(peer)]
    block = setting["blockSize"]
    penalties = {name: factor * channels * block**2 for name, factor in kind.get("penalties", {}).items()}
    return {"blockSize": block, "preFilterCap": setting["preFilterCap"], **penalties, **kind["checks"], **checks}


def check_penalties(arguments, channels):
    """Raises ValueError if P1 and P2 are those of images with another number of channels."""
    for name, factor in read_table()["StereoSGBM"]["penalties"].items():
        fitting = factor * channels * arguments["blockSize"] ** 2
        if arguments[name] != fitting:
            raise ValueError(f"{name} is {arguments[name]}; images with {channels} channels and blocks of {arguments['blockSize']} need {fitting}")


def make_matcher(peer, arguments, disparities, channels):
    """Returns OpenCV's matcher; disparities are rounded up to a multiple of 16."""
    count = -(-disparities // 16) * 16
    if peer != "BM":
        check_penalties(arguments, channels)
        return cv2.StereoSGBM_create(minDisparity=0, numDisparities=count, mode=MODES[peer], **arguments)
    matcher = cv2.StereoBM_create(count, arguments["blockSize"])
    for name, value in arguments.items():
        getattr(matcher, f"set{name[0].upper()}{name[1:]}")(value)
    return matcher


def images_of(files, images):
    """Returns 8-bit images, grey or as they are stored."""
    pair = [cv2.imread(str(file), cv2.IMREAD_ANYCOLOR) for file in files]
    return [image if image.ndim == 2 or images == "colour" else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) for image in pair]


def channels_of(image):
    return 1 if image.ndim == 2 else image.shape[2]


def disparity_of(peer, setting, scene, padded=True, **checks):
    """Returns the disparity, NaN for pixels that the peer did not find."""
    left, right = images_of(scene.files, setting["images"])
    arguments = arguments_of(peer, setting, channels_of(left), **checks)
    matcher = make_matcher(peer, arguments, scene.disparities, channels_of(left))
    pad = matcher.getNumDisparities() if padded else 0
    left, right = (cv2.copyMakeBorder(image, 0, 0, pad, 0, cv2.BORDER_REPLICATE) for image in (left, right))
    found = matcher.compute(left, right)[:, pad:].astype(np.float32) / 16
    return np.where(found < 0, np.nan, found)


# The choice -------------------------------------------------------------------------------------------------------------


def candidates_of(peer, settings):
    named = settings[kind_of(peer)]["candidates"]
    return [dict(zip(named, values)) for values in itertools.product(*named.values())]


def bad_of(peer, setting, scene, **more):
    return 100 * float(scene.wrong(disparity_of(peer, setting, scene, **more))[scene.counted].mean())


def label_of(setting):
    return ", ".join(f"{name} {value}" for name, value in setting.items())


def measure_candidates(options, settings):
    """Returns bad 1.0 by peer, candidate and scene; all of them, or those that the seconds allowed."""
    until = time.monotonic() + options.seconds
    results = read("peer-candidates")
    if results.get("opencv") != cv2.__version__:
        results = {"opencv": cv2.__version__, "bad1.0": {}}
    for peer in NAMES:
        if peer not in options.names:
            continue
        for scene in scenes(options.dataset, options.roads):
            for setting in candidates_of(peer, settings):
                bad = results["bad1.0"].setdefault(peer, {}).setdefault(label_of(setting), {})
                if scene_key(scene) not in bad:
                    if time.monotonic() > until:
                        return results, False
                    bad[scene_key(scene)] = round(bad_of(peer, setting, scene), 3)
            write(options.save, results)
    return results, True


def scene_key(scene):
    return scene.name


def choose(options):
    settings = read_table()
    results, complete = measure_candidates(options, settings)
    write(options.save, results)
    if not complete:
        print("not all candidates are measured yet; call again", file=sys.stderr)
        return 3
    for peer in options.names:
        for name in settings["sets"]:
            means = []
            for setting in candidates_of(peer, settings):
                bad = [value for scene, value in results["bad1.0"][peer][label_of(setting)].items() if set_of(scene, settings["sets"]) == name]
                means.append((round(statistics.mean(bad), 2), setting))
            bad, setting = min(means, key=lambda m: m[0])
            settings["chosen"].setdefault(peer, {})[name] = {**setting, "bad1.0": bad}
            print(f"{NAMES[peer]:16} {name:8} {label_of(setting)}: {bad} % (worst candidate: {max(m[0] for m in means)} %)")
    TABLE.write_text(json.dumps(settings, indent=1, ensure_ascii=False) + "\n")
    return 0


# Times ------------------------------------------------------------------------------------------------------------------


def time_runs(run, repeat):
    for _ in range(2):  # the second run of ONNX Runtime still allocates memory
        run()
    ms = []
    processor = time.process_time()
    for _ in range(repeat):
        begin = time.perf_counter()
        run()
        ms.append(1000 * (time.perf_counter() - begin))
    return {"median_ms": statistics.median_low(ms), "processor_ms": 1000 * (time.process_time() - processor) / repeat}


def time_opencv(options):
    """Times the setting for indoor scenes on the images as they are stored: times of generated pairs are those of grey images."""
    cv2.setNumThreads(options.threads)
    results = []
    for peer in options.names:
        setting = chosen(peer, "indoor")
        left, right = images_of((options.left, options.right), options.images or setting["images"])
        arguments = arguments_of(peer, setting, channels_of(left))
        matcher = make_matcher(peer, arguments, options.disparities, channels_of(left))
        results.append({"name": NAMES[peer], "version": cv2.__version__, "threads": options.threads, "parameters": arguments,
                        **time_runs(lambda: matcher.compute(left, right), options.repeat)})
    return results


def network_inputs(options):
    """The images as a network reads them: 1×3×height×width in 32-bit floats."""
    images = (cv2.imread(str(file), cv2.IMREAD_COLOR) for file in (options.left, options.right))
    return [np.ascontiguousarray(image.transpose(2, 0, 1)[None], np.float32) for image in images]


def time_onnxruntime(options):
    import onnxruntime as ort

    settings = ort.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = ort.InferenceSession(options.network, settings, providers=["CPUExecutionProvider"])
    inputs = dict(zip((i.name for i in session.get_inputs()), network_inputs(options)))
    return [{"name": f"{options.network.stem}, ONNX Runtime, f32", "version": ort.__version__,
             **time_runs(lambda: session.run(None, inputs), options.repeat)}]


def time_openvino(options):
    import openvino as ov

    model = ov.Core().compile_model(options.network, "CPU", {"INFERENCE_NUM_THREADS": options.threads, "PERFORMANCE_HINT": "LATENCY"})
    request, inputs = model.create_infer_request(), network_inputs(options)
    precision = model.get_property("INFERENCE_PRECISION_HINT").get_type_name()
    return [{"name": f"{options.network.stem}, OpenVINO, {precision}", "version": ov.__version__.split("-")[0],
             **time_runs(lambda: request.infer(inputs), options.repeat)}]


def main():
    parser = parser_of(__doc__)
    jobs = {"choose": choose, "time": time_opencv, "onnxruntime": time_onnxruntime, "openvino": time_openvino}
    parser.add_argument("job", choices=jobs)
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(NAMES))
    parser.add_argument("--network", type=Path)
    parser.add_argument("--left", type=Path)
    parser.add_argument("--right", type=Path)
    parser.add_argument("--images", choices=["grey", "colour"], help="replaces the setting's")
    parser.add_argument("--disparities", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3600, help="after these, `choose` starts no further run")
    parser.add_argument("--save", default="peer-candidates", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job == "choose":
        return choose(options)
    print(json.dumps(jobs[options.job](options)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
