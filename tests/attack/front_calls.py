"""Random calls of the package's command with networks, programs, bags, searches and a viewer: front_calls.py COUNT SEED.

It runs in an environment with the package and its extras. Every call must end in time with the exit code 0, 1 or 2 and without a
traceback, say in sentences what is wrong, leave no temporary file, and overwrite no input. The viewer must answer after every message.
"""

import asyncio
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import stereopsis as st
from stereopsis.__main__ import main

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python/tests"))
from bag_files import BagFile, FRAME, START  # noqa: E402
from onnx_files import pair_network  # noqa: E402

count, seed = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)
work = pathlib.Path(tempfile.mkdtemp(prefix="attack"))
os.chdir(work)
D = 16
PROGRAM = """import os, sys, time, numpy as np, stereopsis as st
left, out, how = st.read_image(sys.argv[1]), sys.argv[3], sys.argv[4]
d = np.full(left.shape[:2], 3, np.float32)
if how == "size": d = d[1:]
if how == "nan": d[:] = np.nan
if how == "far": d[:] = 1e30
if how == "fail": print("\\x1b[31mno\\xff", file=sys.stderr); sys.exit(3)
if how == "killed": os.kill(os.getpid(), 11)
if how == "text": open(out, "w").write("hello")
if how not in ("text", "nothing"): st.write_pfm(out, d)
"""


def inputs():
    """Makes the files that calls name."""
    scene = st.synth("table", width=96, height=64, disparities=D, seed=3, noise=2)
    for number in range(3):
        one = pathlib.Path("set") / f"table{number}"
        one.mkdir(parents=True)
        for view in ("left", "right"):
            (one / f"{view}.png").write_bytes(st.Picture(getattr(scene, view)).png)
            pathlib.Path(view).mkdir(exist_ok=True)
            shutil.copy(one / f"{view}.png", f"{view}/{number}.png")
        st.write_pfm(one / "truth.pfm", scene.disparity)
        (one / "dataset.json").write_text(json.dumps({"left": "left.png", "right": "right.png", "gt": "truth.pfm", "ndisp": D}))
    pair_network(pathlib.Path("net.onnx"), D)
    pathlib.Path("half.onnx").write_bytes(pathlib.Path("net.onnx").read_bytes()[:200])
    pathlib.Path("described.onnx").write_bytes(pathlib.Path("net.onnx").read_bytes())
    pathlib.Path("described.json").write_text(rng.choice(['{"white": 0}', '{"factor": NaN}', "[1", '{"multiple": 7}', '{"nothing": 1}']))
    pathlib.Path("program.py").write_text(PROGRAM)
    pathlib.Path("p.json").write_text(st.Pipeline("sgm").set("optimisation.p1", 9).to_json())
    pathlib.Path("n.json").write_text(st.Pipeline("onnx:net.onnx").to_json())
    pathlib.Path("bad.json").write_text('{"method": "program:touch {left} {right} {out}"}')
    with BagFile("in.bag", "ros1") as bag:
        for k in range(2):
            bag.pair(START + k * FRAME, scene.left, scene.right, st.Rig(focal=80, baseline=0.1, unit="m", cx_left=48, cx_right=48, cy=32, size=(96, 64)))
    pathlib.Path("half.bag").write_bytes(pathlib.Path("in.bag").read_bytes()[:3000])
    pathlib.Path("text.bag").write_text("hello")
    st.Rig(focal=80, baseline=0.1, unit="m", cx_left=48, cx_right=48, cy=32, size=(96, 64)).write("rig.yml")


METHODS = ["sgm", "fast", "onnx:net.onnx", "onnx:half.onnx", "onnx:described.onnx", "onnx:nothing.onnx", "onnx:", "program:", "program:{left}",
    "opencv", "opencv:3WAY", "opencv:4WAY", "sgm,fast", "p.json", "n.json", "bad.json", "sgm:optimisation.p1=9", "nonsense"]  # fmt: skip
METHODS += [f"program:{sys.executable} program.py {{left}} {{right}} {{out}} {how}" for how in ("good", "size", "nan", "far", "fail", "killed", "text", "nothing")]
FILES = ["set/table0/left.png", "set/table0/right.png", "set/table0/truth.pfm", "net.onnx", "n.json", "p.json", "in.bag", "half.bag", "text.bag", "rig.yml",
    "left", "right", "set", "nothing.png", "/dev/null", "", "-"]  # fmt: skip
OUTS = ["o.pfm", "o.png", "o", "o.json", "o.html", "o.mcap", "o.bag", "nodir/o.pfm", "/dev/full", "net.onnx", "p.json", "in.bag", "set/table0/left.png"]
WORDS = ["", "0", "-1", "1", "16", "2147483648", "nan", "inf", "1e400", "cpu", "cuda:7", "auto", "a=b", "refinements=none", "refinements=left_right,median",
    "median.window=5", "optimisation.p1=9", "0.5", "1m", "120mm", "1m,5m", "x" * 3000, "\n", "%d", "sgm", "\udcff"]  # fmt: skip


def method():
    """Returns a method that runs, mostly."""
    return rng.choice(["sgm", "onnx:net.onnx", "n.json", METHODS[18]]) if rng.random() < 0.6 else rng.choice(METHODS)


def out(*good):
    return rng.choice(good) if rng.random() < 0.7 else rng.choice(OUTS)


def options_of():
    """Returns the options of each subcommand, from the compiled command and from the parsers in Python."""
    from stereopsis import commands

    described = subprocess.run([commands.PROGRAMS / "stereopsis", "--describe"], capture_output=True, check=True).stdout
    found = {c["name"]: c["options"] for c in json.loads(described)["commands"] if c["name"] in ("match", "evaluate", "bench", "check")}
    for name in ("bag", "tune"):
        said = subprocess.run([sys.executable, "-m", "stereopsis", name, "--help"], capture_output=True, text=True, check=True).stdout
        found[name] = [{"names": [one], "placeholder": place, "flag": not place} for one, place in re.findall(r"^ {2,}(?:-o, )?(--[a-z-]+) ?([A-Z][A-Z_.]*)?", said, re.M)]
    return found


def value_for(option):
    name, place = option["names"][-1], option["placeholder"] or ""
    if rng.random() < 0.15:
        return rng.choice(WORDS)
    if name in ("--method", "--methods"):
        return rng.choice(METHODS)
    if name in ("--output", "--report", "--json", "--html") or place.startswith("OUT"):
        return rng.choice(OUTS)
    if place.startswith(("FILE", "DIR", "IN", "SOURCE")):
        return rng.choice(FILES + OUTS)
    return rng.choice(WORDS)


BASES = {
    "match": lambda: [*rng.choice([["set/table0/left.png", "set/table0/right.png"], ["left", "right"], ["in.bag"]]), "-o", out("o.pfm", "o"), "--disparities", "16"],
    "evaluate": lambda: ["--dataset", "set"],
    "bench": lambda: [*rng.choice([["--dataset", "set"], ["--size", "64x48x16"]]), "--repeat", "1", *rng.choice([["--no-peers"], []])],
    "check": lambda: ["set/table0/left.png", "set/table0/right.png"],
    "bag": lambda: [rng.choice(["in.bag", "in.bag", "half.bag", "text.bag", "left"]), "-o", out("o.mcap", "o.bag"), "--disparities", "16"],
    "tune": lambda: [*rng.choice([["--dataset", "set"], ["left", "right", "--disparities", "16"]]), "-o", out("tuned"), "--trials", "1"],
}  # fmt: skip


def random_call(options):
    name = rng.choice(["match", "match", "evaluate", "bench", "bag", "tune", "check"])
    words = [name, *BASES[name]()]
    if name != "check" and rng.random() < 0.8:
        words += ["--methods" if name == "tune" else "--method", method()]
    for option in rng.sample(options[name], rng.choice([0, 0, 0, 1, 1, 2])):
        if not option["names"][-1].startswith("--") or option["names"][-1] in ("--help", "--for", "--minutes", "--check"):
            continue
        words.append(option["names"][-1])
        if not option["flag"] and rng.random() > 0.04:
            words.append(value_for(option))
    return [word for word in words if "\0" not in word]


def run(words):
    """Runs a call in a child of this process, which has imported everything. Returns its exit code, or None after a minute, and stderr."""
    said = tempfile.TemporaryFile()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(said.fileno(), 2)
        os.environ["STEREOPSIS_PYTHON"] = sys.executable
        code = 70
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:
            import traceback

            traceback.print_exc()
        sys.stderr.flush()
        os._exit(code)
    end = time.monotonic() + 90
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            said.seek(0)
            return os.waitstatus_to_exitcode(status), said.read().decode("utf8", "replace")
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None, ""


LEAKS = re.compile(r"Traceback|terminate called|std::|bad_alloc|basic_string|what\(\)|Assertion|nlohmann|json\.exception|stoi|stod|\bNoneType\b|Error:")


def attack_command(number):
    options, found = options_of(), collections.Counter()
    before = {file: file.read_bytes() for file in work.rglob("*") if file.is_file()}
    for _ in range(number):
        words = random_call(options)
        code, said = run(words)

        def report(kind, words=words, code=code, said=said):
            found[kind] += 1
            print(kind, [word[:80] for word in words], code, said[-700:], sep="\n   ")

        found[f"exit {code}"] += 1
        if code not in (0, 1, 2):
            report("CRASH" if code is not None else "TIMEOUT")
        elif LEAKS.search(said):
            report("LEAK")
        elif code and not said.strip() and words[0] != "check":
            report("SILENT")
        for file, content in before.items():
            if file.is_file() and file.read_bytes() == content:
                continue
            name = str(file.relative_to(work))
            if sum(name in word for word in words) > 1 or name.startswith("set/") and "set" in words or name.startswith(("left/", "right/")):
                report(f"INPUT OVERWRITTEN {name}")
            file.write_bytes(content)  # a result may replace a file that the call does not read
        for file in sorted(work.rglob("*"), reverse=True):
            if file in before or (file.is_dir() and any(file in kept.parents for kept in before)):
                continue
            if file.name.startswith(".") and file.name != ".stereopsis.json" and not (".parts" in str(file) or code is None):
                report(f"TEMPORARY {file.name}")
            shutil.rmtree(file, ignore_errors=True) if file.is_dir() else file.unlink(missing_ok=True)
    return found


def random_message():
    values = [None, True, -1, 0, 7, 1e308, float("nan"), "", "sgm", "x" * 1000, [], [1, 2], {}, {"a": 1}, [10, 10, 20, 20], "onnx:net.onnx", "program:rm {left} {right} {out}"]
    keys = ["index", "name", "value", "on", "by", "first", "end", "rect", "x", "y", "what", "have", "json", "slot", "stage", "stages", "strict"]
    do = ["ready", "probe", "limits", "estimate", "pairing", "keep", "command", "source", "method", "device", "resolution", "swap", "rectify", "refine",
        "fill_depth", "range", "region", "pin", "step", "play", "repeat", "speed", "seek", "grab", "preset", "set", "reset", "refinements", "stage", "nothing"]  # fmt: skip
    message = {"do": rng.choice(do), **{key: rng.choice(values) for key in rng.sample(keys, rng.choice([0, 1, 2, 3]))}}
    return json.dumps(message) if rng.random() > 0.05 else rng.choice(["", "[", "null", "[]", "{}", "\ud800", "1e999", "x" * 10000])


async def attack_viewer(number):
    """Sends messages to a viewer, and requests of HTTP. After each of them, the viewer must answer a right message."""
    import websockets

    found = collections.Counter()
    process = subprocess.Popen([sys.executable, "-m", "stereopsis", "view", "left", "right", "--device", "cpu"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    async with websockets.connect(address.replace("http://", "ws://") + "socket", max_size=None) as link:
        for _ in range(number):
            text = random_message()
            await link.send(text.encode("utf8", "replace").decode())
            await link.send(json.dumps({"do": "limits", "name": "optimisation.p1"}))
            await link.send(json.dumps({"do": "no such thing"}))
            try:
                while '"refused"' not in str(await asyncio.wait_for(link.recv(), 60)):
                    pass
                found["answered"] += 1
            except (asyncio.TimeoutError, websockets.ConnectionClosed) as error:
                found["NO ANSWER"] += 1
                print("NO ANSWER", text[:300], repr(error))
                break
    process.terminate()
    errors = process.communicate(timeout=30)[1]
    if process.returncode != 0 or "Traceback" in errors:
        found["VIEWER"] += 1
        print("VIEWER", process.returncode, errors[-2000:])
    return found


inputs()
total = attack_command(count)
try:
    total += asyncio.run(attack_viewer(max(1, count // 5)))
finally:
    print(seed, count, dict(total))
    shutil.rmtree(work, ignore_errors=True)
