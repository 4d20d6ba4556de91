#!/usr/bin/env python3
"""The C interface from another language, by ctypes alone: the same bits as the command. ctypes_test.py LIBRARY COMMAND"""

import ctypes as c
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    distributions = "/usr/bin/python3"
    if sys.executable != distributions and os.path.exists(distributions):
        os.execv(distributions, [distributions, *sys.argv])
    print("skipped: numpy is not installed (python3-numpy)")
    sys.exit(77)

library, command = c.CDLL(sys.argv[1]), sys.argv[2]
library.sp_last_error.restype = c.c_char_p

U8, U16, F32 = 0, 1, 2
TYPES = {np.dtype(np.uint8): U8, np.dtype(np.uint16): U16, np.dtype(np.float32): F32}
WANT = {"right": 1, "confidence": 2, "cost": 128, "aggregated": 256, "optimised": 512}


def structure(name, *fields):
    return type(name, (c.Structure,), {"_fields_": [("struct_size", c.c_size_t), *fields]})


def fields(kind, names):
    return [(name, kind) for name in names.split()]


Image = structure("Image", ("data", c.c_void_p), *fields(c.c_int64, "offset pitch"),
                  *fields(c.c_int32, "width height channels type bit_depth place"))
Pointer = c.POINTER(Image)
Pair = structure("Pair", *fields(Pointer, "left right mask_left mask_right costs"))
Result = structure("Result", *fields(Pointer, "disparity validity right confidence depth points uncertainty rectified cost "
                                              "aggregated optimised"))
Problem = structure("Problem", *fields(c.c_int32, "width height channels type bit_depth min_disparity disparities batch"),
                    ("region", c.c_int32 * 4), ("memory_limit", c.c_uint64), ("device", c.c_char_p),
                    *fields(c.c_int32, "threads implementation"), ("want", c.c_uint32),
                    *fields(c.c_int32, "given_costs costs_type without_images"),
                    *fields(c.c_void_p, "rig left_camera right_camera"), ("disparity_error", c.c_double),
                    *fields(c.c_int32, "frame reserved"))


def check(status):
    if status != 0:
        raise RuntimeError(f"{status}: {library.sp_last_error().decode()}")


def sized(kind, **members):
    return kind(struct_size=c.sizeof(kind), **members)


def image(array):
    h, w, channels = array.shape if array.ndim == 3 else (*array.shape, 1)
    return sized(Image, data=array.ctypes.data, pitch=array.strides[0], width=w, height=h, channels=channels,
                 type=TYPES[array.dtype])


def match(left, right, first, count, method="sgm", settings=(), want=(), bits=0, costs=None, region=(0, 0, 0, 0)):
    """The arrays of a result, by name."""
    pipeline, matcher = c.c_void_p(), c.c_void_p()
    check(library.sp_pipeline_create(method.encode(), c.byref(pipeline)))
    for name, value in settings:
        check(library.sp_pipeline_set(pipeline, name.encode(), value.encode()))
    shown = image(left)
    problem = sized(Problem, width=shown.width, height=shown.height, channels=shown.channels, type=shown.type,
                    bit_depth=bits, min_disparity=first, disparities=count, device=b"cpu",
                    region=(c.c_int32 * 4)(*region), want=sum(WANT[w] for w in want))
    if costs is not None:
        problem.given_costs, problem.costs_type = 1, TYPES[costs.dtype]
    check(library.sp_matcher_create(pipeline, c.byref(problem), c.byref(matcher)))
    arrays = {"disparity": np.empty((shown.height, shown.width), np.float32),
              "validity": np.empty((shown.height, shown.width), np.uint8)}
    for name in want:
        if name in ("right", "confidence"):
            arrays[name] = np.empty((shown.height, shown.width), np.float32)
        else:
            shape = sized(Image)
            check(library.sp_matcher_volume(matcher, WANT[name], c.byref(shape)))
            kind = next(t for t, number in TYPES.items() if number == shape.type)
            arrays[name] = np.empty((shape.height, shape.width, shape.channels), kind)
    images = [image(left), image(right)]
    for i in images:
        i.bit_depth = bits
    pair = sized(Pair, left=c.pointer(images[0]), right=c.pointer(images[1]))
    if costs is not None:
        pair.costs = c.pointer(image(costs))
    result = sized(Result, **{name: c.pointer(image(array)) for name, array in arrays.items()})
    check(library.sp_matcher_match(matcher, c.byref(pair), c.byref(result)))
    check(library.sp_matcher_destroy(matcher))
    check(library.sp_pipeline_destroy(pipeline))
    return arrays


def commanded(folder, left, right, first, count, *more):
    names = [str(folder / f"{side}.{'ppm' if left.ndim == 3 else 'pgm'}") for side in ("left", "right")]
    for name, array in zip(names, (left, right)):
        kind = "P6" if array.ndim == 3 else "P5"
        white = 255 if array.dtype == np.uint8 else 4095
        pixels = array if array.dtype == np.uint8 else array.astype(">u2")
        pathlib.Path(name).write_bytes(f"{kind} {array.shape[1]} {array.shape[0]} {white}\n".encode() + pixels.tobytes())
    subprocess.run([command, "match", *names, "-o", str(folder / "out.npy"), "--align-rows", "off", "--device", "cpu",
                    "--min-disparity", str(first), "--disparities", str(count), *more], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return np.load(folder / "out.npy")


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    random = np.random.default_rng(7)
    wide = random.integers(0, 256, (60, 130, 3), np.uint8)
    left, right = np.ascontiguousarray(wide[:, :110]), np.ascontiguousarray(wide[:, 9:119])
    grey = [np.ascontiguousarray(view[:, :, 1]) for view in (left, right)]
    deep = [view.astype(np.uint16) * 16 + 3 for view in grey]

    for method, settings in (("sgm", [("sgm.paths", "4"), ("median.enabled", "false")]), ("banz-sgm", []), ("esaw", []),
                             ("census-guided", [])):
        sets = [word for name, value in settings for word in ("--set", f"{name}={value}")]
        got = match(left, right, 2, 24, method, settings, want=["confidence"])
        due = commanded(folder, left, right, 2, 24, "--method", method, *sets, "--confidence", str(folder / "confidence.npy"))
        assert same(got["disparity"], due), method
        assert same(got["confidence"], np.load(folder / "confidence.npy")), method
        assert ((got["validity"] & 63 != 0) == np.isnan(due)).all()
        assert np.nanmedian(due) == 9, "the pair is moved by 9"

    # Grey, with rows that are further apart than they are long; 12 bits; a region.
    gap = [np.zeros((60, 150), np.uint8) for _ in grey]
    for padded, view in zip(gap, grey):
        padded[:, :110] = view
    assert same(match(*[p[:, :110] for p in gap], 0, 16)["disparity"], commanded(folder, *grey, 0, 16))
    assert same(match(*deep, -1, 20, bits=12)["disparity"], commanded(folder, *deep, -1, 20))
    assert same(match(*grey, 0, 16, region=(20, 10, 40, 30))["disparity"], commanded(folder, *grey, 0, 16, "--roi", "20,10,40,30"))

    # Volumes out, and in again as the costs of the caller's.
    given = match(*grey, 0, 16, settings=[("cost.stage", "census")], want=["cost"])
    commanded(folder, *grey, 0, 16, "--set", "cost.stage=census", "--save-volume", f"cost={folder / 'cost.npy'}")
    assert same(given["cost"], np.load(folder / "cost.npy"))
    mine = np.ascontiguousarray(np.minimum(given["cost"], 40))
    np.save(folder / "mine.npy", mine)
    got = match(*grey, 0, 16, settings=[("cost.stage", "volume")], costs=mine)
    assert same(got["disparity"], commanded(folder, *grey, 0, 16, "--cost-volume", str(folder / "mine.npy")))

    try:
        match(left, right, 0, 16, settings=[("sgm.p11", "4")])
    except RuntimeError as error:
        assert str(error).startswith("1: ") and "sgm.p11" in str(error), error
    else:
        raise AssertionError("a parameter that there is not was taken")
    print("the same bits as the command's")


main()
