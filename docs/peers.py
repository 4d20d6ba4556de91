#!/usr/bin/env python3
"""Measures one other stereo matcher of a Python package on a pair of images, and prints the result as JSON.

    docs/peers.py opencv --mode BM|SGBM|3WAY|HH|HH4 --left FILE --right FILE --disparities N [--threads N] [--repeat N]
    docs/peers.py onnxruntime|openvino --network FILE.onnx --left FILE --right FILE [--threads N] [--repeat N]

A result has the name, the version, and the median wall-clock time and the mean processor time of a run, in milliseconds.
docs/benchmarks.py calls this program for the table of the other matchers.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

MODES = {"SGBM": "MODE_SGBM", "3WAY": "MODE_SGBM_3WAY", "HH": "MODE_HH", "HH4": "MODE_HH4"}


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


def opencv(options):
    """The parameters are those of `stereopsis bench`."""
    import cv2

    cv2.setNumThreads(options.threads)
    left, right = (cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) for file in (options.left, options.right))
    count = (options.disparities + 15) // 16 * 16
    if options.mode == "BM":
        matcher = cv2.StereoBM_create(numDisparities=count, blockSize=15)
    else:
        matcher = cv2.StereoSGBM_create(minDisparity=0, numDisparities=count, blockSize=3, P1=72, P2=288, disp12MaxDiff=1,
                                        uniquenessRatio=10, speckleWindowSize=100, speckleRange=32,
                                        mode=getattr(cv2, "StereoSGBM_" + MODES[options.mode]))
    name = "OpenCV BM" if options.mode == "BM" else f"OpenCV SGBM {options.mode}"
    return name, cv2.__version__, lambda: matcher.compute(left, right)


def network_inputs(options):
    """The images as a network reads them: 1×3×height×width in 32-bit floats."""
    import cv2
    import numpy

    images = (cv2.imread(str(file), cv2.IMREAD_COLOR) for file in (options.left, options.right))
    return [numpy.ascontiguousarray(image.transpose(2, 0, 1)[None], numpy.float32) for image in images]


def onnxruntime(options):
    import onnxruntime as ort

    settings = ort.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = ort.InferenceSession(options.network, settings, providers=["CPUExecutionProvider"])
    inputs = dict(zip((i.name for i in session.get_inputs()), network_inputs(options)))
    return f"{options.network.stem}, ONNX Runtime, f32", ort.__version__, lambda: session.run(None, inputs)


def openvino(options):
    import openvino as ov

    model = ov.Core().compile_model(options.network, "CPU",
                                    {"INFERENCE_NUM_THREADS": options.threads, "PERFORMANCE_HINT": "LATENCY"})
    request, inputs = model.create_infer_request(), network_inputs(options)
    precision = model.get_property("INFERENCE_PRECISION_HINT").get_type_name()
    return f"{options.network.stem}, OpenVINO, {precision}", ov.__version__.split("-")[0], lambda: request.infer(inputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    runners = {"opencv": opencv, "onnxruntime": onnxruntime, "openvino": openvino}
    parser.add_argument("runner", choices=runners)
    parser.add_argument("--mode", choices=["BM", *MODES], default="SGBM")
    parser.add_argument("--network", type=Path)
    parser.add_argument("--left", type=Path, required=True)
    parser.add_argument("--right", type=Path, required=True)
    parser.add_argument("--disparities", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    name, version, run = runners[options.runner](options)
    print(json.dumps({"name": name, "version": version, **time_runs(run, options.repeat)}))


if __name__ == "__main__":
    main()
