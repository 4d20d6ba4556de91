"""Random calls of the command, with right and wrong files and options: command_calls.py PROGRAM COUNT SEED.

Every call must end in time with the exit code 0, 1 or 2, say in sentences what is wrong, leave no temporary file, replace no link, and
overwrite no input.
"""

import collections
import json
import os

import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

program, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
work = pathlib.Path(tempfile.mkdtemp(prefix="attack"))
os.chdir(work)


def call(*words, inp=None, timeout=60):
    return subprocess.run([program, *map(str, words)], input=inp, capture_output=True, timeout=timeout)


assert call("synth", "-o", "s", "--width", 96, "--height", 64, "--disparities", 24, "--noise", 2).returncode == 0
good = {
    "left": "s/left.png",
    "right": "s/right.png",
    "truth": next(str(p) for p in pathlib.Path("s").iterdir() if "disp" in p.name and p.suffix == ".pfm"),
}
call("match", "s/left.png", "s/right.png", "--disparities", 24, "-o", "d.pfm", "--confidence", "c.pfm")
# files of every wrong kind
bad = []


def make(name, data):
    pathlib.Path(name).write_bytes(data)
    bad.append(name)


left = pathlib.Path(good["left"]).read_bytes()
pfm = pathlib.Path("d.pfm").read_bytes()
make("empty.png", b"")
make("half.png", left[: len(left) // 2])
make("flip.png", left[:60] + bytes(b ^ 255 for b in left[60:90]) + left[90:])
make("text.png", b"hello")
make("half.pfm", pfm[: len(pfm) // 2])
make("huge.pgm", b"P5\n999999999 999999999\n255\n")
make("neg.pfm", b"Pf\n-3 4\n-1.0\n" + b"0" * 48)
make("zero.pgm", b"P5\n0 0\n255\n")
make("max0.pgm", b"P5\n2 2\n0\nabcd")
make("max70000.pgm", b"P5\n2 2\n70000\nabcdefgh")
make("one.pgm", b"P5\n1 1\n255\nx")
make("wide.pgm", b"P5\n500 1\n255\n" + bytes(500))
make("deep.json", b"[" * 200000)
make("deep2.json", b'{"a":' * 50000 + b"1" + b"}" * 50000)
make("bad.json", b'{"method": 3}')
make("arr.json", b"[]")
make("null.json", b"null")
make("big.json", b'{"cost":{"stage":"' + b"x" * 100000 + b'"}}')
make("bad.yml", b"%YAML:1.0\n---\nK1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [1,2,3]\n")
make("bad2.yml", b"a: &a [*a, *a]\n")
make("calib.txt", b"cam0=[1 2 3]\n")
make("np.npy", b"\x93NUMPY\x01\x00\xff\xff{'descr': '<f4'")
a = np.zeros((64, 96), np.float32)
a[:] = np.nan
np.save("nan.npy", a)
np.save("inf.npy", a * 0 + np.inf)
np.save("obj.npy", np.zeros((64, 96), np.complex128))
np.save("cube.npy", np.zeros((64, 96, 5), np.uint8))
np.save("u16.npy", (np.arange(64 * 96).reshape(64, 96) % 65536).astype(np.uint16))
np.save("fortran.npy", np.asfortranarray(np.zeros((64, 96), np.float32)))
bad += ["nan.npy", "inf.npy", "obj.npy", "cube.npy", "u16.npy", "fortran.npy"]
os.symlink("nowhere/at/all.png", "dangling.png")
bad.append("dangling.png")
os.mkdir("dir.png")
bad.append("dir.png")
os.mkfifo("fifo.png")
bad += ["nothing.png", "/dev/null", "/proc/self/mem", "s", "", "-", "é\u202e.png"]
words = lambda: rng.choice(
    [
        "",
        "0",
        "-1",
        "1",
        "24",
        "2147483647",
        "-2147483648",
        "99999999999999999999",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "0x10",
        "3.5",
        "auto",
        "cpu",
        "cuda",
        "cuda:7",
        "opencl:99",
        "sgm",
        "nonsense",
        "1,2,3,4",
        "0,0,0,0",
        "10,10,20,20",
        "-1,0,5,5",
        "96,64,1,1",
        "a=b",
        "=",
        "cost.window=4",
        "optimisation.p2=1",
        "optimisation.p1=99999",
        "select.nothing=1",
        "png",
        "ply",
        "\n",
        "x" * 5000,
        "%d",
        "%s%n",
        "..",
        "/",
        "~",
    ]
)


def any_file():
    return rng.choice([rng.choice(list(good.values()) + ["d.pfm", "c.pfm"])] * 1 + [rng.choice(bad)])


describe = json.loads(call("--describe").stdout)
commands = {c["name"]: c for c in describe["commands"] if not c.get("python")}
methods = [m["name"] for m in json.loads(call("methods", "--json").stdout)]
outs = [
    "o.pfm",
    "o.png",
    "o.tif",
    "o.npy",
    "o.exr",
    "o",
    "nodir/o.pfm",
    "/dev/full",
    "/o.pfm",
    "dangling.png",
    "s/left.png",
    "o.ply",
    "o.txt",
    "dir.png",
]


def value_for(option):
    ph, name = option["placeholder"], option["names"][-1]
    r = rng.random()
    if r < 0.12:
        return words()
    if name == "--method":
        return rng.choice(methods)
    if name == "--device":
        return rng.choice(["cpu", "auto", "cuda", "opencl", "cpu", "cpu:1"])
    if option.get("values"):
        return rng.choice(option["values"])
    if "-o" in option["names"] or ph.startswith(("OUT",)):
        return rng.choice(outs)
    if ph.startswith(("FILE", "LEFT", "RIGHT", "DIR", "DISPARITY", "FOLDER", "CALIB")):
        return any_file() if rng.random() < 0.8 else rng.choice(outs)
    if ph in ("N", "I", "INT", "COUNT"):
        return rng.choice(["0", "1", "2", "7", "16", "24", "64", "100", "-5", "300"])
    return words()


SKIP = {"--describe"}


def random_call():
    name = rng.choice([c for c in commands if c not in ("bench",)] + ["match"] * 6 + ["evaluate"] * 2 + ["cloud"] * 2)
    c = commands.get(name) or {"options": []}
    w = [name]
    named = [o for o in c["options"] if o["names"][0].startswith("-")]
    positional = [o for o in c["options"] if not o["names"][0].startswith("-")]
    if name == "match":
        w += [good["left"], good["right"]] if rng.random() < 0.7 else [any_file(), any_file()]
        if rng.random() < 0.8:
            w += ["--disparities", rng.choice(["24", "16", "1", "5"])]
        if rng.random() < 0.8:
            w += ["-o", rng.choice(outs)]
    elif name == "evaluate" and rng.random() < 0.7:
        w += [rng.choice(["d.pfm"] + bad), rng.choice([good["truth"]] + bad)]
    elif name == "cloud" and rng.random() < 0.7:
        w += ["d.pfm", "-o", "o.ply"]
    else:
        for o in positional:
            if rng.random() < 0.85:
                w.append(any_file())
    for o in rng.sample(named, min(len(named), rng.choice([0, 1, 1, 1, 2, 2, 3]))):
        if set(o["names"]) & SKIP:
            continue
        n = rng.choice(o["names"])
        if rng.random() < 0.03:
            n = n[:-1] + rng.choice("abcxyz")
        if o["flag"]:
            w.append(n)
        else:
            v = value_for(o)
            if rng.random() < 0.04:
                w.append(n)
            else:
                w += [n, v] if rng.random() < 0.7 or not n.startswith("--") else [f"{n}={v}"]
    if rng.random() < 0.05:
        rng.shuffle(w)
    return [x for x in w if "\0" not in x]


found = collections.Counter()
seen = []
for i in range(count):
    w = random_call()
    if any("fifo" in x for x in w):
        continue
    if name_conflict := ("synth" in w[:1] and any(len(x) > 6 and x.isdigit() for x in w)):
        pass
    shutil.copy(good["left"], "keep.png")
    try:
        done = call(*w, inp=b"", timeout=60)
    except subprocess.TimeoutExpired:
        print("TIMEOUT", w)
        found["timeout"] += 1
        continue
    err = done.stderr.decode("utf8", "replace")
    rc = done.returncode
    found[f"exit {rc}"] += 1

    def report(kind):
        found[kind] += 1
        print(kind, w, rc, err[-600:], sep="\n   ")

    if rc not in (0, 1, 2):
        report("CRASH")
    elif rc and not err.strip() and w[0] not in ("check",):
        report("SILENT")
    elif re.search(
        r"terminate|std::|bad_alloc|basic_string|vector|what\(\)|exception|Assertion|nlohmann|json\.exception|\[json|stoi|stod|iostream",
        err,
    ):
        report("LEAK")
    elif rc and len(err) > 2500 and len(" ".join(w)) < 2000:
        report("LONG")
    if pathlib.Path(good["left"]).read_bytes() != left and w.count("s/left.png") > 1:
        report("INPUT OVERWRITTEN")
    if pathlib.Path(good["left"]).read_bytes() != left:
        pass
        pathlib.Path(good["left"]).write_bytes(left)
    temps = [p for p in work.rglob("*") if re.search(r"\.(tmp|part|partial)|\.stereopsis|~$|\.[0-9a-zA-Z]{6}$", p.name) and p.is_file()]
    if temps:
        report(f"TEMPORARY {temps}")
        [p.unlink() for p in temps]
    if rc == 1 or rc == 2:
        # a rejected call writes no result under the name that it was given
        for o in ("o.pfm", "o.png", "o.tif", "o.npy", "o.ply"):
            if pathlib.Path(o).exists() and pathlib.Path(o).stat().st_size == 0:
                report("EMPTY RESULT")
    for o in outs[:6] + ["o.ply", "o.txt"]:
        p = pathlib.Path(o)
        if p.is_file():
            p.unlink()
        elif p.is_dir():
            shutil.rmtree(p)
    if pathlib.Path("nowhere").exists():
        shutil.rmtree("nowhere")
    if not os.path.islink("dangling.png"):
        report("LINK REPLACED")
        os.path.exists("dangling.png") and os.unlink("dangling.png")
        os.symlink("nowhere/at/all.png", "dangling.png")
print(seed, count, dict(found))
shutil.rmtree(work)
