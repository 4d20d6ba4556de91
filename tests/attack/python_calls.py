"""Random calls of the Python package, right and wrong: python_calls.py SEED COUNT.

Each must give the result of a plain call, or raise a documented error with one sentence. A batch of calls is a process of its own, so that
crashes and hangs are seen.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

BATCH = 25
if len(sys.argv) < 4 or sys.argv[3] != "--child":
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    bad = 0
    done = 0
    kinds = {}
    for first in range(0, count, BATCH):
        p = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", __file__, str(seed), str(first), "--child", str(min(BATCH, count - first))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            out, err = p.communicate(timeout=150)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
            print("HANG in batch", first, out[-600:], err[-800:])
            bad += 1
            continue
        lines = [json.loads(l) for l in out.splitlines() if l.startswith("{")]
        done += len(lines)
        for l in lines:
            k = l["kind"] + ":" + l["end"]
            kinds[k] = kinds.get(k, 0) + 1
            if l["end"] == "BAD":
                bad += 1
                print(json.dumps(l))
        if p.returncode != 0:
            print("CRASH", p.returncode, "batch", first, "after", lines[-1] if lines else None, err[-1500:])
            bad += 1
    print("calls", done, "bad", bad)
    [print("  ", k, v) for k, v in sorted(kinds.items())]
    sys.exit(bad > 0)

import asyncio
import copy
import gc
import pickle
import random
import threading
import warnings

import numpy as np
import stereopsis as st

warnings.simplefilter("ignore")
seed, first, count = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[4])
METHODS = ["sgm", "banz-sgm", "esaw", "zncc", "prehn-window", "realtime-dp", "census-guided", "prehn-pyramid"]
DOC = (st.Error,)


def same(a, b):
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


class Wrong(Exception):
    pass


def need(ok, what):
    if not ok:
        raise Wrong(what)


def sizes(r):
    return r.choice(
        [(1, 1), (1, r.randint(1, 90)), (r.randint(1, 60), 1), (r.randint(2, 60), r.randint(2, 110)), (r.randint(2, 60), r.randint(2, 110))]
    )


def images(r, shape=None, dtype=None, channels=None):
    h, w = shape or sizes(r)
    dtype = dtype or r.choice(["uint8", "uint8", "uint16", "float32"])
    channels = channels if channels is not None else r.choice([0, 0, 3])
    g = np.random.default_rng(r.getrandbits(32))
    full = (h, w + 8, channels) if channels else (h, w + 8)
    base = g.integers(0, 255, full)
    top = {"uint8": 1, "uint16": 257, "float32": 1}[dtype]
    base = (base * top).astype(dtype)
    return np.ascontiguousarray(base[:, 4 : 4 + w]), np.ascontiguousarray(base[:, :w])


def lay(r, a):
    """The same array, laid out otherwise; and whether the library must take it."""
    k = r.randint(0, 9)
    if k <= 1:
        return a, True
    if k == 2:
        big = np.zeros((a.shape[0] + 3, a.shape[1] + 5, *a.shape[2:]), a.dtype)
        v = big[1:-2, 2:-3]
        v[...] = a
        return v, True
    if k == 3:
        b = a.copy()
        b.flags.writeable = False
        return b, True
    if k == 4:
        return a[::-1].copy()[::-1], a.shape[0] == 1
    if k == 5:
        return a[:, ::-1].copy()[:, ::-1], a.shape[1] == 1
    if k == 6:
        big = np.zeros((a.shape[0] * 2, *a.shape[1:]), a.dtype)
        v = big[::2]
        v[...] = a
        return v, True
    if k == 7:
        big = np.zeros((a.shape[0], a.shape[1] * 2, *a.shape[2:]), a.dtype)
        v = big[:, ::2]
        v[...] = a
        return v, a.shape[1] == 1
    if k == 8:
        return memoryview(np.ascontiguousarray(a)), True
    if k == 9:
        raw = np.zeros(a.nbytes + 1, np.uint8)
        v = raw[1:].view(a.dtype).reshape(a.shape) if a.dtype == np.uint8 else np.ndarray(a.shape, a.dtype, raw.data, 1)
        v[...] = a
        return v, None
    return a, True


def plain_of(l, r_, d, **how):
    return st.match(l, r_, d, device="cpu", **how)


def act_layout(r):
    l, rr = images(r)
    d = r.choice([1, 2, 16, 33, (-5, 12), (3, 9), range(0, 8)])
    m = r.choice(METHODS)
    try:
        want = plain_of(l, rr, d, method=m)
    except DOC as e:
        want = e
    (a, ok1), (b, ok2) = lay(r, l), lay(r, rr)
    try:
        got = plain_of(a, b, d, method=m)
    except DOC as e:
        need(isinstance(want, Exception) or not (ok1 and ok2), f"refused {e}")
        raise
    need(not isinstance(want, Exception), f"accepted though plain call: {want}")
    need(same(got.disparity, want.disparity) and same(got.validity, want.validity), "other pixels")


BADS = [
    None,
    3,
    "left",
    [1, 2],
    np.zeros((0, 5), np.uint8),
    np.zeros((5, 0), np.uint8),
    np.zeros((4, 4), np.float64),
    np.zeros((4, 4), np.int8),
    np.zeros((4, 4), complex),
    np.zeros((4, 4, 2), np.uint8),
    np.zeros((4, 4, 4), np.uint8),
    np.zeros(7, np.uint8),
    np.zeros((), np.uint8),
    np.zeros((2, 2, 3, 1), np.uint8),
    np.array([["a"]]),
    np.array([[None]], object),
    np.zeros((4, 4), ">u2"),
    np.zeros((4, 4), "V3"),
    np.zeros((3, 3), "datetime64[s]"),
    np.lib.stride_tricks.as_strided(np.zeros(4, np.uint8), (4, 4), (0, 1)),
    b"abc",
    bytearray(9),
    memoryview(b"xyz"),
    object(),
    np.ma.zeros((4, 4)),
    {},
    iter([]),
]


def act_bad_array(r):
    l, rr = images(r, channels=0, dtype="uint8")
    bad = r.choice(BADS)
    where = r.choice(["left", "right", "both", "mask_left", "mask_right", "out", "stream", "check", "evaluate", "volume", "write"])
    m = st.Matcher("sgm", disparities=8, device="cpu")
    if where == "left":
        m(bad, rr)
    elif where == "right":
        m(l, bad)
    elif where == "both":
        m(bad, bad)
    elif where.startswith("mask"):
        if bad is None:
            return
        m(l, rr, **{where: bad})
    elif where == "out":
        m(l, rr, out={r.choice(["disparity", "validity", "right", "nosuch", 3]): bad})
    elif where == "stream":
        list(m.stream([(l, rr), (bad, rr)]))
    elif where == "check":
        st.check(bad, rr)
    elif where == "evaluate":
        st.evaluate(bad, np.zeros((4, 4), np.float32))
    elif where == "volume":
        st.match_volume(bad)
        return  # volumes may have 8 bits
    elif where == "write":
        st.write_disparity(os.path.join(tempfile.gettempdir(), "attack.pfm"), bad)
    raise Wrong(f"{where} accepted {type(bad)} {getattr(bad, 'dtype', '')} {getattr(bad, 'shape', '')}")


VALUES = [
    None,
    -1,
    0,
    1,
    2**31,
    2**63,
    2**64,
    -(2**63),
    1.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "sgm",
    "cpu",
    b"cpu",
    True,
    [],
    (),
    (1,),
    (1, 2),
    (1, 2, 3),
    (5, 5),
    (9, 3),
    {},
    {"a": 1},
    object(),
    range(3),
    range(0, 10, 2),
    range(5, 2),
    np.int64(7),
    np.float32(2),
    np.array([1, 2]),
    np.array(5),
    "é\0",
    "a" * 10000,
    10**30,
    1j,
    [1, "a"],
    [(1, 2)],
    ["right"],
    ["volume", "cost"],
    "\ud800",
]
OPTIONS = [
    "method",
    "disparities",
    "device",
    "set",
    "pipeline",
    "region",
    "stripe",
    "refine_only",
    "want",
    "probes",
    "rig",
    "calibration",
    "frame",
    "disparity_error",
    "fill_depth",
    "colour",
    "bit_depth",
    "threads",
    "implementation",
    "memory_limit",
    "warn_of_pair",
]


def act_option(r):
    l, rr = images(r, shape=(20, 30), channels=0, dtype="uint8")
    how = {"disparities": 8, "device": "cpu"}
    for _ in range(r.choice([1, 1, 2])):
        how[r.choice(OPTIONS)] = r.choice(VALUES)
    res = st.Matcher(**how)(l, rr)
    if set(how) <= {
        "disparities",
        "device",
        "threads",
        "memory_limit",
        "warn_of_pair",
        "frame",
        "disparity_error",
        "fill_depth",
        "want",
        "probes",
        "implementation",
    }:
        need(same(res.disparity, plain_of(l, rr, how["disparities"]).disparity), "other pixels")


def act_params(r):
    method = r.choice(METHODS)
    infos = st.parameters(method)
    i = r.choice(infos)
    v = r.choice(VALUES + [i.value, i.default, i.minimum, i.maximum, str(i.maximum)])
    p = st.Pipeline(method)
    way = r.randint(0, 4)
    before = p.to_json()
    try:
        if way == 0:
            p.set(i.name, v)
        elif way == 1:
            p.set_params(**{i.name: v, "nosuch.thing": 1})
        elif way == 2:
            p.update({i.name: v})
        elif way == 3:
            p.refinements = v
        elif way == 4:
            setattr(p, r.choice(["cost", "plus", "aggregation", "optimisation"]), v)
    except DOC:
        need(p.to_json() == before, "changed by a rejected call")
        raise
    need(way != 1, "an unknown name was set")
    q = st.Pipeline.from_json(p.to_json())
    need(q == p, "JSON is another pipeline")
    need(pickle.loads(pickle.dumps(p)) == p, "pickle")
    l, rr = images(r, shape=(18, 26), channels=3, dtype="uint8")
    st.match(l, rr, 8, pipeline=p, device="cpu")


def act_json(r):
    t = st.Pipeline(r.choice(METHODS)).to_json()
    k = r.randint(0, 4)
    if k == 0:
        t = t[: r.randint(0, len(t))]
    elif k == 1:
        b = list(t)
        for _ in range(r.randint(1, 5)):
            b[r.randrange(len(b))] = chr(r.choice([0, 34, 44, 58, 91, 123, 125, 93, 48, 49, 101, 233, 0x1F600]))
        t = "".join(b)
    elif k == 2:
        t = r.choice(["", "null", "[]", "{}", "1e999", '{"method": 3}', '{"method":"sgm","slots":3}', "\x00"])
    elif k == 3:
        t = r.choice(VALUES)
    st.Pipeline.from_json(t)


def act_out(r):
    dt = "uint8"
    l, rr = images(r, shape=(r.randint(2, 40), r.randint(2, 70)), dtype=dt, channels=0)
    h, w = l.shape
    want = [n for n in ["right", "confidence", "cost"] if r.random() < 0.5]
    m = st.Matcher(r.choice(["sgm", "banz-sgm", "zncc"]), disparities=8, device="cpu", want=want)
    ref = m(l, rr)
    pool = np.zeros((3 * h + 5, 3 * w + 9), np.float32)
    u = np.zeros((3 * h + 5, 3 * w + 9), np.uint8)
    out = {}
    expect_bad = False
    for n in ["disparity", "validity", *want]:
        if r.random() < 0.3:
            continue
        if n == "cost":
            out[n] = np.zeros(ref.cost.shape, ref.cost.dtype)
            continue
        y, x = r.randint(0, 2 * h), r.randint(0, 2 * w)
        out[n] = (u if n == "validity" else pool)[y : y + h, x : x + w]
    if r.random() < 0.2 and "validity" in out:
        out["validity"] = r.choice([l, rr])
        expect_bad = True
    names = list(out)
    for i in range(len(names)):
        for j in range(i):
            expect_bad |= np.shares_memory(out[names[i]], out[names[j]])
    try:
        got = m(l, rr, out=out)
    except DOC as e:
        need(expect_bad, f"refused {e}")
        need(not pool.any(), "written by a rejected call")
        raise
    need(not expect_bad, "overlap accepted")
    for n in ["disparity", "validity", *want]:
        need(same(getattr(got, n), getattr(ref, n)), f"{n} differs")
        if n in out:
            need(getattr(got, n) is out[n], "not mine")
    if r.random() < 0.5:
        again = m(l, rr, out=got)
        need(same(again.disparity, ref.disparity), "out=result")


def act_stream(r):
    shape = (r.randint(1, 40), r.randint(1, 70))
    n = r.randint(0, 7)
    f = r.randint(1, 5)
    frames = [images(r, shape=shape, dtype="uint8", channels=0) for _ in range(n)]
    m = st.Matcher(r.choice(METHODS), disparities=8, device="cpu")
    ref = [m(*p).disparity.copy() for p in frames]
    buf = [np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)]
    cp = r.random() < 0.7

    def gen():
        for p in frames:
            if cp or f == 1:
                buf[0][:], buf[1][:] = p
                yield tuple(buf)
            else:
                yield p

    stop = r.randint(0, n) if r.random() < 0.3 else None
    got = []
    s = m.stream(gen(), in_flight=f, copy=cp)
    for i, q in enumerate(s):
        got.append(q.disparity)
        if stop is not None and i >= stop:
            break
    if r.random() < 0.3:
        m.close()
    del s
    gc.collect()
    need(stop is not None or len(got) == n, "count")
    for a, b in zip(got, ref):
        need(same(a, b), "stream differs")


def act_nan(r):
    l, rr = images(r, shape=(r.randint(1, 40), r.randint(1, 60)), dtype="float32", channels=0)
    l = l.copy()
    g = np.random.default_rng(r.getrandbits(30))
    bad = g.random(l.shape) < r.choice([0.01, 0.3, 1])
    v = r.choice([np.nan, np.inf, -np.inf, -5, 255, 256, 1e30, -0.0, 1e-40])
    l[bad] = v
    res = plain_of(l, rr, 8)
    if not np.isfinite(v):
        clean = l.copy()
        clean[bad] = 0
        # masked pixels must be invalid
        need(
            bool(((res.validity & st.validity.masked) != 0)[bad].all()) or bool((res.validity[bad] & 192).any()), "NaN pixel is not masked"
        )
    else:
        need(not bad.any() or 0 <= v <= 255.5, f"an intensity outside was accepted: {v}")


def act_threads(r):
    l, rr = images(r, shape=(30, 50), dtype="uint8", channels=0)
    m = st.Matcher("sgm", disparities=16, device="cpu")
    ref = m(l, rr).disparity.copy()
    errors = []
    closes = r.random() < 0.5
    sets = r.random() < 0.5
    sizes_ = r.random() < 0.5
    small = m(l[:10], rr[:10]).disparity.copy()

    def work(i):
        try:
            for _ in range(6):
                if sizes_ and i % 2:
                    q = m(l[:10], rr[:10]).disparity
                    e = small
                else:
                    q = m(l, rr).disparity
                    e = ref
                if not same(q, e):
                    errors.append("pixels")
        except st.CallError as x:
            if "closed" not in str(x):
                errors.append(str(x))
        except BaseException as x:
            errors.append(repr(x))

    ts = [threading.Thread(target=work, args=(i,)) for i in range(5)]
    [t.start() for t in ts]
    if sets:
        m.set_params(**{"sgm.p1": 20})
    if closes:
        time.sleep(r.random() * 0.02)
        m.close()
    [t.join(60) for t in ts]
    need(not any(t.is_alive() for t in ts), "hang")
    need(not errors, str(errors[:2]))


def act_stage(r):
    l, rr = images(r, shape=(12, 30), dtype="uint8", channels=0)
    kind = r.choice(
        ["raise", "exit", "int", "keep", "none", "self", "self_thread", "fine", "other_dtype", "gen_exit", "nested", "set", "close"]
    )
    box = {}

    def stage(c):
        if box.get("off"):
            c.made[...] = 3
            return
        if kind == "raise":
            raise r.choice(
                [
                    ValueError("x"),
                    KeyError(3),
                    MemoryError(),
                    RecursionError("r"),
                    Exception(),
                    OSError(2, "no"),
                    UnicodeDecodeError("a", b"b", 0, 1, "c"),
                    StopIteration(4),
                    AssertionError,
                ]
            )
        if kind == "exit":
            raise SystemExit(3)
        if kind == "int":
            raise KeyboardInterrupt
        if kind == "gen_exit":
            raise GeneratorExit
        if kind == "keep":
            box["k"] = c.reference
        if kind == "self":
            box["m"](l, rr)
        if kind == "self_thread":
            t = threading.Thread(target=lambda: box.setdefault("e", []).append(err(lambda: box["m"](l, rr))))
            t.start()
            t.join()
        if kind == "nested":
            plain_of(l, rr, 4)
        if kind == "set":
            box["m"].set_params(**{"sgm.p1": 9})
        if kind == "close":
            box["m"].close()
        if kind != "none":
            c.made[...] = 3

    def err(f):
        try:
            f()
            return None
        except BaseException as e:
            return type(e).__name__

    p = st.Pipeline("sgm")
    p.set_stage("cost", stage)
    m = box["m"] = st.Matcher(pipeline=p, disparities=8, device="cpu")
    way = r.choice(["call", "stream", "thread", "amatch"])

    def go():
        if way == "call":
            return m(l, rr)
        if way == "stream":
            return list(m.stream([(l, rr)] * 2, in_flight=r.randint(1, 3)))[-1]
        if way == "amatch":
            return asyncio.run(m.amatch(l, rr))
        res = []
        t = threading.Thread(target=lambda: res.append(err(lambda: m(l, rr))))
        t.start()
        t.join(30)
        need(not t.is_alive(), "hang")
        return res[0]

    e = None
    try:
        got = go()
    except BaseException as x:
        e = x
    name = type(e).__name__ if e is not None else (got if way == "thread" else None)
    box.pop("k", None)
    expected = {
        "raise": "CallError",
        "exit": "SystemExit",
        "int": "KeyboardInterrupt",
        "gen_exit": "GeneratorExit",
        "keep": None,  # on the CPU, the arrays are copies
        "none": "CallError",
        "self": "CallError",
        "self_thread": None,
        "fine": None,
        "other_dtype": None,
        "nested": None,
        "set": None,
        "close": None,
    }[kind]
    if kind == "close" and way == "stream":
        expected = "CallError"
    if kind == "gen_exit" and way == "amatch":
        expected = name
    need(name == expected, f"{kind} by {way}: {name}, expected {expected}: {e}")
    if kind == "self_thread":
        need(box["e"][0] == "CallError", f"self_thread {box['e']}")
    box["off"] = True
    if kind != "close":
        need(m(l, rr).disparity.shape == l.shape, "not usable")
    if e is not None and isinstance(e, DOC):
        raise e


def act_pickle(r):
    l, rr = images(r, shape=(20, 30), dtype="uint8", channels=0)
    m = st.Matcher("sgm", disparities=r.choice([8, None, (-3, 5)]) if r.random() < 0.8 else 8, device="cpu", want=["confidence"])
    try:
        a = m(l, rr)
    except DOC:
        raise
    f = r.choice([lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
    n = f(m)
    b = n(l, rr)
    need(same(a.disparity, b.disparity), "copy differs")
    c = f(a)
    need(same(c.disparity, a.disparity) and same(c.confidence, a.confidence) and repr(c) == repr(a), "result copy")


def act_fork(r):
    l, rr = images(r, shape=(20, 30), dtype="uint8", channels=0)
    ref = st.match(l, rr, 8, device="cpu", threads=r.choice([0, 1])).disparity
    pid = os.fork()
    if pid == 0:
        try:
            code = 0 if same(st.match(l, rr, 8, device="cpu", threads=1).disparity, ref) else 1
        except st.Error:
            code = 2
        os._exit(code)
    for _ in range(300):
        p, s = os.waitpid(pid, os.WNOHANG)
        if p:
            need(os.WIFEXITED(s) and os.WEXITSTATUS(s) in (0, 2), f"child ended {s}")
            return
        time.sleep(0.1)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    raise Wrong("the child of a fork hangs")


def act_volume(r):
    h, w = sizes(r)
    d = r.randint(1, 20)
    dt = r.choice(["uint8", "uint16", "float32"])
    g = np.random.default_rng(r.getrandbits(30))
    v = (g.random((h, w, d)) * {"uint8": 200, "uint16": 900, "float32": 1}[dt]).astype(dt)
    if dt == "float32" and r.random() < 0.4:
        v[g.random(v.shape) < 0.2] = r.choice([np.nan, np.inf, -np.inf, -1])
    if dt == "uint16" and r.random() < 0.4:
        v[g.random(v.shape) < 0.2] = 65535
    o = r.choice(["sgm", "none"])
    largest = {"uint8": 0, "uint16": 1000, "float32": 0}[dt]
    k = dict(
        optimise=o,
        first=r.randint(-4, 4),
        largest=largest,
        device="cpu",
        refinements=r.choice([(), ("median",)]),
        want=["volume"] if o == "sgm" else [],
    )
    ref = st.match_volume(np.ascontiguousarray(v), **k)
    big = np.zeros((h + 2, w, d), dt)
    big[1:-1] = v
    got = st.match_volume(big[1:-1], **k)
    need(same(got.disparity, ref.disparity), "volume view differs")
    if o == "none" and not k["refinements"] and dt != "float32":
        at = np.arange(w)[None, :, None] - k["first"] - np.arange(d)
        c = np.where((at >= 0) & (at < w), v.astype(float), np.inf)
        x = np.argmin(c, 2) + k["first"]
        ok = ref.measured
        need(bool((abs(ref.disparity[ok] - x[ok]) <= 1).all()), "argmin")


def act_masks(r):
    l, rr = images(r, shape=(r.randint(1, 30), r.randint(1, 50)), dtype="uint8", channels=0)
    g = np.random.default_rng(r.getrandbits(30))
    ml = g.random(l.shape) < 0.7
    a = st.Matcher("sgm", disparities=8, device="cpu")
    x = a(l, rr, mask_left=ml)
    y = a(l, rr, mask_left=np.where(ml, 255, r.choice([0, 128])).astype(np.uint8))
    need(same(x.disparity, y.disparity), "mask values")
    need(bool((x.validity[~ml] != 0).all()), "masked pixel measured")
    need(same(x.measured, x.validity == 0) and 0 <= x.measured_share <= 1 and 0 <= x.density <= 1, "measured")


def act_colour(r):
    h, w = 2 * r.randint(1, 15), 2 * r.randint(1, 25)
    rgb = images(r, shape=(h, w), dtype="uint8", channels=3)
    c = r.choice(["bgr", "rgba", "bgra"])

    def conv(a):
        if c == "bgr":
            return np.ascontiguousarray(a[..., ::-1])
        b = np.full((h, w, 4), r.randint(0, 255), np.uint8)
        b[..., :3] = a if c == "rgba" else a[..., ::-1]
        return b

    m = r.choice(METHODS)
    need(
        same(st.match(conv(rgb[0]), conv(rgb[1]), 8, m, device="cpu", colour=c).disparity, st.match(*rgb, 8, m, device="cpu").disparity),
        "colour differs",
    )


def act_files(r):
    f = os.path.join(tempfile.gettempdir(), f"attack_{os.getpid()}") + r.choice([".pfm", ".npy", ".png", ".tif", ".xyz", "", ".pgm"])
    d = (np.random.default_rng(r.getrandbits(20)).random(sizes(r)) * 60).astype(np.float32)
    if r.random() < 0.4:
        d[0, 0] = r.choice([np.nan, np.inf, -1, 1e30])
    try:
        st.write_disparity(f, d, r.choice([0, 1, 4, 256, -1, float("nan")]))
        e = st.read_disparity(f, r.choice([0, 4]))
        need(e.shape == d.shape, "shape")
        data = bytearray(open(f, "rb").read())
        for _ in range(3):
            data[r.randrange(len(data))] = r.randrange(256)
        open(f, "wb").write(data[: r.randint(0, len(data))])
        st.read_disparity(f, 4)
    finally:
        if os.path.exists(f):
            os.remove(f)


def act_misc(r):
    l, rr = images(r, shape=(40, 60), dtype="uint8", channels=0)
    res = plain_of(l, rr, 8)
    v = r.choice(VALUES)
    k = r.randint(0, 11)
    if k == 0:
        res.colour(v if isinstance(v, str) else "disparity", *(() if isinstance(v, str) else (v, v)))
    elif k == 1:
        st.synth(v if isinstance(v, str) else "table", v if isinstance(v, int) else 20, 20, 8)
    elif k == 2:
        st.Picture(v)
    elif k == 3:
        st.Rig(focal=v, baseline=v)
    elif k == 4:
        st.read_image(v)
    elif k == 5:
        st.read_calibration(v)
    elif k == 6:
        st.evaluate(res.disparity, res.disparity, v)
    elif k == 7:
        st.cv2.StereoSGBM_create(v, 16).compute(l, rr)
    elif k == 8:
        st.Matcher("sgm", disparities=8).stream(v, in_flight=r.choice([1, v]))
    elif k == 9:
        st.Matcher("sgm", disparities=8).explain(l, v)
    elif k == 10:
        st.calibrate(v, v, "chessboard:9x6")
    elif k == 11:
        list(st.Matcher("sgm", disparities=8, device="cpu").stream([(l, rr)], progress=v))
    return


def act_region(r):
    l, rr = images(r, shape=(r.randint(4, 40), r.randint(4, 70)), dtype=r.choice(["uint8", "float32"]))
    h, w = l.shape[:2]
    m = r.choice(METHODS)
    x, y = r.randint(-1, w), r.randint(-1, h)
    rw, rh = r.randint(0, w), r.randint(0, h)
    ok = 0 <= x and 0 <= y and rw >= 1 and rh >= 1 and x + rw <= w and y + rh <= h
    try:
        got = st.match(l, rr, 8, m, device="cpu", region=(x, y, rw, rh))
    except st.CallError as e:
        need(not ok or "region" in str(e) or m.startswith("prehn-pyramid"), f"refused a region: {e}")
        raise
    need(ok, f"region {(x, y, rw, rh)} of {w}x{h} accepted")
    whole = st.match(l, rr, 8, m, device="cpu")
    a, b = got.disparity[y : y + rh, x : x + rw], whole.disparity[y : y + rh, x : x + rw]
    need(same(a, b), f"region differs, {m} {(np.nan_to_num(a) != np.nan_to_num(b)).sum()} of {a.size}")
    need(0 <= got.measured_share <= 1 and abs(got.measured_share - (got.validity[y : y + rh, x : x + rw] == 0).mean()) < 1e-9, "share")


def act_wants(r):
    l, rr = images(r, dtype=r.choice(["uint8", "uint16", "float32"]))
    m = r.choice(METHODS)
    d = r.choice([1, 8, (-4, 9), 40])
    base = plain_of(l, rr, d, method=m)
    rig = st.Rig(focal=300, baseline=0.2)
    w = [
        n
        for n in [
            "right",
            "confidence",
            "depth",
            "points",
            "uncertainty",
            "rectified",
            "cost",
            "aggregated",
            "optimised",
            "times",
            "volume",
        ]
        if r.random() < 0.3
    ]
    try:
        got = plain_of(
            l, rr, d, method=m, want=w, rig=rig, threads=r.choice([0, 1, 2, 3]), implementation=r.choice(["fused", "plain", "oracle"])
        )
    except st.CallError as e:
        need(any(n in w for n in ["cost", "aggregated", "optimised", "volume", "right", "confidence", "rectified"]), f"refused {w}: {e}")
        raise
    need(same(got.disparity, base.disparity) and same(got.validity, base.validity), f"{m} {w} differs")
    for n in w:
        if n not in ("times", "volume"):
            need(getattr(got, n) is not None, f"{n} is missing")
    if "depth" in w:
        ok = ~np.isnan(got.depth)
        need(not (ok & np.isnan(base.disparity)).any(), "depth without disparity")
        z = 60 / base.disparity[ok].astype(float)
        need(bool(np.allclose(got.depth[ok], z, rtol=1e-5)), "depth")


def act_evaluate(r):
    g = np.random.default_rng(r.getrandbits(30))
    s = (r.randint(1, 30), r.randint(1, 30))
    t = (g.random(s) * 60).astype(np.float32)
    d = (t + g.normal(0, 2, s)).astype(np.float32)
    d[g.random(s) < 0.2] = np.nan
    t[g.random(s) < 0.2] = r.choice([np.nan, np.inf])
    mask = g.random(s) < 0.6
    e = st.evaluate(d, t, mask)
    use = mask & np.isfinite(t)
    err = np.abs(d.astype(np.float64) - t)
    if use.any():
        bad = 100 * np.mean((~(err <= 2))[use])
        need(abs(e["bad2.0"] - bad) < 1e-3 or ((np.abs(err - 2) < 1e-5) & use).any(), f"bad2.0 {e['bad2.0']} {bad}")
    else:
        need(np.isnan(e["bad2.0"]), "NaN where nothing counts")


def act_matcher_life(r):
    m = st.Matcher(r.choice(METHODS), disparities=r.choice([8, (0, 8), range(8), None]), device="cpu")
    l, rr = images(r, shape=(33, 64), channels=0, dtype="uint8")
    closed = False
    ref = None
    for _ in range(12):
        k = r.randint(0, 9)
        try:
            if k == 0:
                m.close()
                closed = True
            elif k == 1:
                m.explain()
            elif k == 2:
                m.explain(l, rr)
            elif k == 3:
                m.probes = r.choice([[], [(1, 2)], [(63, 32)], [(64, 0)], [(-1, 0)]])
            elif k == 4:
                m.set_params()
                m.get_params()
            elif k == 5:
                list(m.stream([(l, rr)] * 2))
            elif k == 6:
                m = copy.copy(m)
                closed = closed
            elif k == 7:
                need(m.lost == {}, "lost")
                m.pipeline.set("cost.stage", "rank")
            else:
                q = m(l, rr)
                need(not closed, "a closed matcher matched")
                if ref is not None:
                    need(same(q.disparity, ref), "another result in its life")
                ref = q.disparity.copy()
        except st.CallError as e:
            text = str(e)
            need("closed" in text or "pyramid" in text or "estimated" in text or "probe" in text or "pixel" in text, text)
            if "probe" in text or "outside" in text or "pyramid" in text:
                m.probes = []


ACTS = {n[4:]: f for n, f in globals().items() if n.startswith("act_")}
NAMES = sorted(ACTS)
for i in range(first, first + count):
    r = random.Random(seed * 1_000_003 + i)
    n = NAMES[i % len(NAMES)]
    if len(sys.argv) > 5 and sys.argv[5] != n:
        continue
    end, text = "ok", ""
    try:
        ACTS[n](r)
    except Wrong as e:
        end, text = "BAD", str(e)
    except DOC as e:
        text = str(e)
        end = type(e).__name__
        raised = "failed: " in text  # a sentence that quotes an exception of the caller
        if "\n" in text or len(text) < 25 or len(text) > 12000 or ("error" in text.lower() and "0x" in text and not raised):
            end, text = "BAD", "sentence: " + text[:300]
    except TypeError as e:  # nanobind raises it for an argument of a wrong type
        end, text = ("TypeError", "") if "incompatible function arguments" in str(e) and n in ("misc", "bad_array") else ("BAD", str(e))
    except BaseException as e:
        import traceback

        end = "BAD"
        text = "".join(traceback.format_exception(e))[-700:]
    print(json.dumps({"kind": n, "i": i, "end": end, "text": text if end == "BAD" else ""}), flush=True)
