"""Networks and programs as methods of every tool: the command, datasets, the viewer, bags, the ROS node and `scale`."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

import numpy as np
import pytest

import stereopsis as st
from stereopsis.__main__ import main
from stereopsis.view import settings as view_settings
from stereopsis.view.keep import Keeper
from stereopsis.view.messages import methods_of, slots_of

onnx = pytest.importorskip("onnx", reason="onnx makes the networks of the tests")
pytest.importorskip("onnxruntime", reason="onnxruntime runs the networks")
from onnx_files import expected, pair_network  # noqa: E402

PROGRAM = pathlib.Path(st.__file__).parent / "bin" / "stereopsis"
D = 16


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a scene in the layout of a dataset, a network, and its description."""
    made = tmp_path_factory.mktemp("external")
    scene = st.synth("table", width=150, height=101, disparities=D, seed=3)
    for number in (1, 2):
        one = made / "scenes" / f"table{number}"
        one.mkdir(parents=True)
        for name in ("left", "right"):
            (one / f"{name}.png").write_bytes(st.Picture(getattr(scene, name)).png)
        (one / "mask_nonocc.png").write_bytes(st.Picture(scene.nonocc).png)
        st.write_pfm(one / "truth.pfm", scene.disparity)
        about = {"left": "left.png", "right": "right.png", "gt": "truth.pfm", "ndisp": D, "masks": {"mask_nonocc.png": "visible"}}
        (one / "dataset.json").write_text(json.dumps(about))
    pair_network(made / "net.onnx", D)
    return made


def run(*words, code=0, program=(PROGRAM,)):
    done = subprocess.run(
        [*map(str, program), *map(str, words)], capture_output=True, text=True, timeout=120, env={**os.environ, "STEREOPSIS_PYTHON": sys.executable}
    )
    assert done.returncode == code, done.stderr
    return done


def images(folder):
    return [st.read_image(folder / f"scenes/table1/{name}.png") for name in ("left", "right")]


# Datasets


def without_times(found):
    if isinstance(found, dict):
        return {name: without_times(value) for name, value in found.items() if name != "ms"}
    return [without_times(one) for one in found] if isinstance(found, list) else found


def test_a_dataset_is_scored_as_by_the_command(folder, tmp_path):
    run("evaluate", "--dataset", folder / "scenes", "--method", "sgm", "--set", "sgm.p1=12", "--device", "cpu", "--json", tmp_path / "s.json")
    counted = []
    found = st.evaluate_dataset(
        folder / "scenes", "sgm", set={"sgm.p1": 12}, device="cpu", repeat=0, progress=lambda *at: counted.append(at)
    )
    assert without_times(found) == without_times(json.loads((tmp_path / "s.json").read_text()))
    assert counted == [(1, 2), (2, 2)] and all(one["ms"] > 0 for one in found["scenes"])
    how = ["--align-rows", "0.5,1"]
    run("evaluate", "--dataset", folder / "scenes", "--method", "sgm", *how, "--device", "cpu", "--json", tmp_path / "moved.json")
    moved = st.evaluate_dataset(folder / "scenes", "sgm", align_rows="0.5,1", device="cpu", repeat=0)
    assert without_times(moved) == without_times(json.loads((tmp_path / "moved.json").read_text()))
    assert moved["scenes"][0]["measures"] != found["scenes"][0]["measures"]


def test_a_network_is_scored_and_failures_are_listed(folder, tmp_path):
    found = st.evaluate_dataset(folder / "scenes", f"onnx:{folder}/net.onnx", repeat=0)
    left, right = images(folder)
    truth, mask = st.read_pfm(folder / "scenes/table1/truth.pfm"), st.read_image(folder / "scenes/table1/mask_nonocc.png")
    expect = st.evaluate(expected(left, right, D), truth, mask)
    assert found["scenes"][0]["measures"]["nonocc"]["bad1.0"] == expect["bad1.0"]
    assert found["method"] == "onnx:net.onnx" and found["device"] == "cpu" and not found["failed"]

    def fails(left, right, disparities):
        raise st.Error("no weights")

    assert [one["error"] for one in st.evaluate_dataset(folder / "scenes", fails)["failed"]] == ["no weights"] * 2
    with pytest.raises(st.FileError):
        st.evaluate_dataset(tmp_path)


# The command


def test_match_hands_on_networks_and_programs(folder, tmp_path, same_bits):
    pair = [folder / f"scenes/table1/{name}.png" for name in ("left", "right")]
    wanted = expected(*images(folder), D)
    for method in (f"onnx:{folder}/net.onnx", f"program:cp {folder}/net.pfm {{out}} {{left}} {{right}}"):
        if method.startswith("program"):
            (tmp_path / "copy").write_text(f"#!/bin/sh\ncp {folder}/net.pfm $3\n")
            (tmp_path / "copy").chmod(0o755)
            st.write_pfm(folder / "net.pfm", wanted)
            method = f"program:{tmp_path}/copy {{left}} {{right}} {{out}}"
        done = run("match", *pair, "--method", method, "--disparities", D, "-o", tmp_path / "d.pfm", "--color", tmp_path / "c.png")
        same_bits(st.read_pfm(tmp_path / "d.pfm"), wanted)
        assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG") and "100.0 % measured" in done.stdout


def test_match_refines_and_writes_every_map_of_a_sequence(folder, tmp_path):
    scenes = folder / "scenes"
    for view in ("left", "right"):
        (tmp_path / view).mkdir()
        for number in (1, 2):
            (tmp_path / view / f"{number}.png").write_bytes((scenes / f"table{number}/{view}.png").read_bytes())
    (tmp_path / "out").mkdir()
    files = ["-o", tmp_path / "out", "--validity", tmp_path / "v%d.npy", "--confidence", tmp_path / "c%d.pfm", "--right", tmp_path / "r%d.pfm"]
    words = ["match", tmp_path / "left", tmp_path / "right", "--method", f"onnx:{folder}/net.onnx", "--disparities", D, *files]
    run(*words, "--set", "refinements=left_right,speckle", "--measured-only", "--quiet")
    result = st.match(*images(folder), D, f"onnx:{folder}/net.onnx", set={"refinements": "left_right,speckle"}, want="confidence")
    np.testing.assert_array_equal(st.read_pfm(tmp_path / "out/2.pfm"), result.disparity)
    np.testing.assert_array_equal(np.load(tmp_path / "v1.npy"), result.validity)
    np.testing.assert_array_equal(st.read_pfm(tmp_path / "c1.pfm"), result.confidence)
    mirrored = st.match(
        *(np.ascontiguousarray(image[:, ::-1]) for image in images(folder)[::-1]), D, f"onnx:{folder}/net.onnx", set={"refinements": "left_right,speckle"}
    )
    np.testing.assert_array_equal(st.read_pfm(tmp_path / "r1.pfm"), mirrored.disparity[:, ::-1])
    assert (result.validity != 0).any()


def test_match_keeps_a_region_and_masks_and_writes_clouds(folder, tmp_path):
    pair = [folder / f"scenes/table1/{name}.png" for name in ("left", "right")]
    left, right = images(folder)
    mask = np.full(left.shape[:2], 255, np.uint8)
    mask[30:60, 20:90] = 0
    st.write_image(tmp_path / "mask.png", mask)
    cameras = "cam0=[100 0 75; 0 100 50; 0 0 1]\ncam1=[100 0 75; 0 100 50; 0 0 1]\n"
    (tmp_path / "calib.txt").write_text(cameras + "doffs=0\nbaseline=50\nwidth=150\nheight=101\nndisp=16\n")
    words = ["--method", f"onnx:{folder}/net.onnx", "--disparities", D, "--calib", tmp_path / "calib.txt", "-o", tmp_path / "d.pfm"]
    run("match", *pair, *words, "--mask-left", tmp_path / "mask.png", "--roi", "10,5,100,80", "--cloud", tmp_path / "new/c.ply")
    result = st.match(
        left, right, D, f"onnx:{folder}/net.onnx", mask_left=mask, region=(10, 5, 100, 80), rig=st.Rig.read(tmp_path / "calib.txt"), want="points"
    )
    np.testing.assert_array_equal(st.read_pfm(tmp_path / "d.pfm"), result.disparity)
    assert not np.isfinite(result.disparity[30:60, 20:90]).any() and not np.isfinite(result.disparity[:5]).any()
    header, _, vertices = (tmp_path / "new/c.ply").read_bytes().partition(b"end_header\n")
    there = ~np.isnan(result.points).any(axis=2)
    vertices = np.frombuffer(vertices, [("point", "<f4", 3), ("colour", "u1", 3), ("confidence", "<f4")])
    assert 0 < there.sum() == len(vertices) and b"element vertex %d" % len(vertices) in header
    np.testing.assert_array_equal(vertices["point"], result.points[there])
    np.testing.assert_array_equal(vertices["colour"], left[there])


def test_match_hands_on_pipelines_of_networks(folder, tmp_path):
    pair = [folder / f"scenes/table1/{name}.png" for name in ("left", "right")]
    pipeline = st.Pipeline(f"onnx:{folder}/net.onnx").update({"refinements": "left_right,median", "median.window": 5})
    (tmp_path / "p.json").write_text(pipeline.to_json())
    words = ["match", *pair, "--disparities", D, "-o", tmp_path / "d.pfm", f"--pipeline={tmp_path}/p.json"]
    run(*words)
    np.testing.assert_array_equal(st.read_pfm(tmp_path / "d.pfm"), st.match(*images(folder), D, pipeline=pipeline).disparity)
    assert "--method and --pipeline cannot be given together" in run(*words, "--method", "onnx:n.onnx", code=2).stderr
    (tmp_path / "p.json").write_text('{"method": "program:touch {left} {right} {out}"}')
    assert "must not run programs" in run(*words, code=1).stderr
    (tmp_path / "p.json").write_text('{"method": "onnx:n.onnx"')  # broken JSON: neither command may hand the call back to the other
    assert "p.json" in run(*words, code=1).stderr


def test_results_of_images_with_one_name_are_named_after_the_folders(folder, tmp_path):
    pairs = [",".join(str(folder / f"scenes/table{n}/{name}.png") for name in ("left", "right")) for n in (1, 2)]
    (tmp_path / "pairs.csv").write_text("\n".join(pairs))
    run("match", tmp_path / "pairs.csv", "--method", f"onnx:{folder}/net.onnx", "--disparities", D, "-o", tmp_path)
    assert sorted(file.name for file in tmp_path.glob("*.pfm")) == ["table1.pfm", "table2.pfm"]


def test_evaluate_and_bench_compare_networks(folder, tmp_path):
    network = f"onnx:{folder}/net.onnx"
    table = run("evaluate", "--dataset", folder / "scenes", f"--method={network}", "--json", tmp_path / "e.json").stdout
    assert "scenes/table2" in table and "average of scenes" in table
    assert json.loads((tmp_path / "e.json").read_text())["method"] == "onnx:net.onnx"
    table = run("bench", "--dataset", folder / "scenes", "--method", "sgm:sgm.p1=12", "--method", network, "--repeat", 1, "--no-peers").stdout
    assert "sgm:sgm.p1=12" in table and network in table
    sizes = ["--size", "64x48x16", "--repeat", 1, "--no-peers", "--no-stream", "--json", tmp_path / "b.json"]
    run("bench", *sizes, "--method", "sgm", "--method", network, "--device", "cpu")
    found = json.loads((tmp_path / "b.json").read_text())["results"]
    assert [one["method"] for one in found] == ["sgm", network]


def test_opencv_joins_the_comparison(folder, tmp_path):
    """The settings are those of one table, whichever OpenCV runs: that of the compiled command or the package cv2."""
    pytest.importorskip("cv2", reason="OpenCV's Python module is not installed")
    program = ["--method", f"program:{sys.executable} {folder}/one.py {{left}} {{right}} {{out}}"]
    (folder / "one.py").write_text("import numpy, stereopsis, sys; stereopsis.write_pfm(sys.argv[3], numpy.full((101, 150), 3, numpy.float32))")
    words = ["evaluate", "--dataset", folder / "scenes", *program, "--method", "opencv", "--html", tmp_path / "c.html", "--json", tmp_path / "c.json"]
    table = run(*words).stdout
    found = {one["method"]: one for one in json.loads((tmp_path / "c.json").read_text())["results"]}
    assert set(found) == {program[1], "OpenCV StereoBM", *(f"OpenCV StereoSGBM {mode}" for mode in ("3WAY", "SGBM", "HH4", "HH"))}
    assert all(name in table and name.split()[-1] in (tmp_path / "c.html").read_text() for name in found)
    settings = found["OpenCV StereoSGBM 3WAY"]["parameters"]
    assert settings["P2"] == 32 * settings["blockSize"] ** 2 and settings["numDisparities"] == 16 and settings["images"] == "grey"
    run("evaluate", "--dataset", folder / "scenes", "--method", "opencv:3WAY", "--json", tmp_path / "one.json")
    one = json.loads((tmp_path / "one.json").read_text())
    assert one["method"] == "opencv:3WAY" and one["average"]["scenes"]["measures"] == found["OpenCV StereoSGBM 3WAY"]["average"]["scenes"]["measures"]
    assert run("evaluate", "--dataset", folder / "scenes", "--method", "opencv:4WAY", code=2).stderr.count("opencv:3WAY") == 1


def test_a_missing_package_of_opencv_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(st.UnsupportedError, match="--method opencv:BM cannot run: a matcher of OpenCV requires OpenCV, and cv2 cannot be imported .*; run: python -m pip install"):
        st.compare(folder / "scenes", ["sgm", "opencv:BM"])


class OnGpu:
    """A method that runs elsewhere than the library's own steps."""

    name, provider = "elsewhere", "cuda:1"

    def on(self, device, threads):
        return self

    def __call__(self, left, right, disparities):
        return np.full(left.shape[:2], 3, np.float32)


def test_everything_joins_the_comparison_of_a_program(folder, tmp_path):
    def nothing(left, right, disparities):
        return np.full(left.shape[:2], np.nan, np.float32)

    pipeline = st.Pipeline("sgm").set("optimisation.p1", 9)
    given = ["sgm", pipeline, pipeline, nothing, f"onnx:{folder}/net.onnx", st.Pipeline(f"onnx:{folder}/net.onnx"), OnGpu()]
    found = st.compare(folder / "scenes", given, device="cpu", repeat=1, html=tmp_path / "page.html")
    assert [one["method"] for one in found] == ["sgm", "sgm (2)", "sgm (3)", "nothing", f"onnx:{folder}/net.onnx", "onnx:net.onnx", "elsewhere"]
    assert [one["parameters"].get("optimisation.p1") for one in found[:3]] == [20, 9, 9]
    assert found[3]["average"]["scenes"]["measures"]["nonocc"]["density"] == 0
    assert found[4]["average"]["scenes"]["measures"] == found[5]["average"]["scenes"]["measures"]
    assert found[6]["device"] == "cuda:1" and found[6]["threads"] == 0  # not the CPU of the library's own steps
    named = st.compare(folder / "scenes", {"mine": pipeline, "theirs": "sgm"}, set={"sgm.p2": 100}, repeat=1)
    assert [(one["method"], one["parameters"]["optimisation.p2"]) for one in named] == [("mine", 100), ("theirs", 100)]


def test_an_interruption_of_a_comparison_is_no_failure_of_a_scene(folder):
    def interrupted(left, right, disparities):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        st.compare(folder / "scenes", [interrupted])


def test_compare_has_networks_beside_methods(folder, tmp_path):
    found = st.compare(folder / "scenes", ["sgm", f"onnx:{folder}/net.onnx"], device="cpu", repeat=1, html=tmp_path / "page.html")
    assert [one["method"] for one in found] == ["sgm", f"onnx:{folder}/net.onnx"] and all(len(one["scenes"]) == 2 for one in found)
    assert f"onnx:{folder}/net.onnx" in (tmp_path / "page.html").read_text()


def test_networks_have_the_options_of_other_methods(folder, tmp_path):
    """Judging, ranges, resuming, reports, plans and limits are those of every method."""
    pair = [folder / f"scenes/table1/{name}.png" for name in ("left", "right")]
    network = ["--method", f"onnx:{folder}/net.onnx"]
    run("match", *pair, *network, "-o", tmp_path / "d.pfm", "--report", tmp_path / "r.json", "--min-confidence", "0.5", "--threads", 1)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["method"] == "onnx:net.onnx" and report["disparities"] > 4
    assert "onnx:net.onnx" in run("match", *pair, *network, "--disparities", D, "--explain").stdout
    judged = run("match", *pair, *network, "--disparities", D, "-o", tmp_path / "d.pfm", "--strict", code=1)
    assert "a pair is judged from 160×120 pixels on (--strict)" in judged.stderr
    for view in ("left", "right"):
        (tmp_path / view).mkdir()
        for number in (1, 2):
            (tmp_path / view / f"{number}.png").write_bytes((folder / f"scenes/table{number}/{view}.png").read_bytes())
    sequence = ["match", tmp_path / "left", tmp_path / "right", *network, "--disparities", D, "-o", tmp_path / "out"]
    run(*sequence)
    (tmp_path / "out/2.pfm").unlink()
    assert "2 of 2 frames (1 from an earlier run)" in run(*sequence, "--resume").stdout


@pytest.mark.parametrize(
    "option, sentence",
    [
        (["--cost-volume", "v.npy"], "--cost-volume replaces the matching cost, and onnx:net.onnx has none; leave one of them out"),
        (["--save-volume", "cost=v.npy"], "computes no costs, which are requested"),
        (["--probe", "3,3"], "computes no costs, which are requested"),
    ],
)
def test_options_that_do_not_apply_to_a_network_say_why(folder, tmp_path, option, sentence):
    """docs/networks.md has the list: networks have all other options of `match`."""
    np.save(tmp_path / "v.npy", np.zeros((101, 150, D), np.uint8))
    pair = [folder / f"scenes/table1/{name}.png" for name in ("left", "right")]
    words = [tmp_path / word if word == "v.npy" else word.replace("v.npy", f"{tmp_path}/w.npy") for word in option]
    given = [] if "--cost-volume" in option else ["--disparities", D]
    assert sentence in run("match", *pair, "--method", f"onnx:{folder}/net.onnx", "-o", tmp_path / "d.pfm", *given, *words, code=2).stderr


def test_names_that_are_no_text_are_names_of_files(folder, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xe9.png"
    try:
        with open(name, "wb") as file:
            file.write((folder / "scenes/table1/left.png").read_bytes())
    except OSError:
        pytest.skip("this file system has no such names")
    words = [name, folder / "scenes/table1/right.png", "--method", f"onnx:{folder}/net.onnx", "--disparities", D, "-o", tmp_path / "d.pfm"]
    done = subprocess.run([sys.executable, "-m", "stereopsis", "match", *(os.fsencode(str(word)) if not isinstance(word, bytes) else word for word in words)], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "d.pfm").exists()


@pytest.mark.parametrize("name", ["onnx:", "onnx:/", "onnx:."])
def test_a_network_without_a_name_is_refused(name):
    with pytest.raises(st.CallError, match="names no file; write onnx:FILE"):
        st.Pipeline(name)


def test_wrong_calls_are_named(folder, tmp_path):
    np.save(tmp_path / "c.npy", np.zeros((101, 150, D), np.uint8))
    pair = [folder / f"scenes/table1/{name}.png" for name in ("left", "right")]
    network = ["--method", f"onnx:{folder}/net.onnx"]
    for words, sentence in [
        (["match", *pair, *network, "-o", tmp_path / "d.jpg"], "d.jpg"),
        (["match", *pair, *network, "-o", tmp_path / "d.pfm", "--probe", "1,2"], "computes no costs, which are requested"),
        (["match", *pair, *network, "-o", tmp_path / "d.pfm", "--set", "sgm.p1=3"], "has no parameter 'sgm.p1'"),
        (["match", *pair, *network, "-o", tmp_path / "d.pfm", "--depth", tmp_path / "z.pfm"], "--depth"),
        (["match", *pair, *network, "-o", tmp_path / "d.pfm", "--roi", "100,0,51,9"], "is not inside the image of 150×101"),
        (["match", *pair, *network, "-o", tmp_path / "d.pfm", "--device", "opencl"], "is not allowed for a network"),
        (["match", *pair, *network, "--method", "sgm", "-o", tmp_path / "d.pfm"], "--method"),
        (["match", *pair, *network, "--cost-volume", tmp_path / "c.npy", "-o", tmp_path / "d.pfm"], "replaces the matching cost, and onnx:net.onnx has none"),
        (["bench", *network, "--size", "3"], "--size 3 is not allowed"),
    ]:
        message = run(*words, "--quiet", code=2).stderr
        assert sentence in message and message.count("\n") == 1
    missing = run("match", *pair, "--method", "onnx:/no.onnx", "-o", tmp_path / "d.pfm", code=1).stderr
    assert "'/no.onnx' does not exist" in missing
    (tmp_path / "fails").write_text("#!/bin/sh\necho no licence >&2\nexit 3\n")
    (tmp_path / "fails").chmod(0o755)
    program = f"program:{tmp_path}/fails {{left}} {{right}} {{out}}"
    assert "fails ended with exit code 3: no licence" in run("match", *pair, "--method", program, "--disparities", D, "-o", tmp_path / "d.pfm", code=1).stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_programs_and_remove_their_files(folder, tmp_path, number):
    (tmp_path / "slow").write_text(f"#!/bin/sh\necho $$ > {tmp_path}/id\nexec sleep 60\n")
    (tmp_path / "slow").chmod(0o755)
    (tmp_path / "files").mkdir()
    pair = [folder / f"scenes/table1/{name}.png" for name in ("left", "right")]
    call = ["match", *pair, "--method", f"program:{tmp_path}/slow {{left}} {{right}} {{out}}", "--disparities", D, "-o", tmp_path / "d.pfm"]
    environment = {**os.environ, "STEREOPSIS_PYTHON": sys.executable, "TMPDIR": str(tmp_path / "files")}
    command = subprocess.Popen([PROGRAM, *map(str, call)], stderr=subprocess.PIPE, text=True, env=environment)
    while not (tmp_path / "id").is_file() or not (tmp_path / "id").read_text().endswith("\n"):
        assert command.poll() is None
        time.sleep(0.05)
    command.send_signal(number)
    said = command.communicate(timeout=10)[1]
    assert command.returncode == 128 + number and f"ended by {number.name}" in said
    assert not any((tmp_path / "files").iterdir())
    state = pathlib.Path(f"/proc/{(tmp_path / 'id').read_text().strip()}/stat")
    for _ in range(100):  # the system may need a moment to end it
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the program still runs")


def test_the_package_is_named_if_it_is_missing(folder, tmp_path):
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    done = subprocess.run(
        [PROGRAM, "match", "l.png", "r.png", "--method", "onnx:n.onnx"], capture_output=True, text=True, env={**os.environ, "STEREOPSIS_PYTHON": str(bare), "PYTHONPATH": ""}
    )
    assert done.returncode == 1 and "match with a network or a program is a command of the Python package" in done.stderr
    assert "WHEEL[onnx]" in done.stderr


# The viewer


def test_a_page_chooses_the_method_that_the_viewer_was_started_with(folder):
    pipeline = st.Pipeline(f"onnx:{folder}/net.onnx")
    settings = view_settings.Settings(pipeline, external=pipeline)
    assert methods_of(settings)[-1]["name"] == "onnx:net.onnx"
    assert [slot["slot"] for slot in slots_of(pipeline)] == ["confidence"]
    other = view_settings.changed(settings, {"do": "method", "name": "sgm"})
    assert other.pipeline.method == "sgm"
    again = view_settings.changed(other, {"do": "method", "name": "onnx:net.onnx"})
    assert again.pipeline == pipeline
    refined = view_settings.changed(again, {"do": "refinements", "names": ["left_right", "median"]})
    assert refined.pipeline.refinements == ("left_right", "median") and not pipeline.refinements
    assert view_settings.changed(other, {"do": "preset", "json": refined.pipeline.to_json()}).pipeline == refined.pipeline


def test_the_page_shows_the_call_of_a_network(folder):
    pipeline = st.Pipeline(f"onnx:{folder}/net.onnx").update({"refinements": "left_right,median", "median.window": 5})
    shown = types.SimpleNamespace(settings=view_settings.Settings(pipeline, external=pipeline))
    expected = ["--method", f"onnx:{folder}/net.onnx", "--set", "refinements=left_right,median", "--set", "median.window=5"]
    assert Keeper(None, None, False)._changes(shown) == expected


def test_a_page_starts_neither_programs_nor_other_networks(folder):
    settings = view_settings.Settings(st.Pipeline("sgm"))
    for name in ("program:touch {left} {right} {out}", f"onnx:{folder}/net.onnx"):
        with pytest.raises(st.CallError, match="there is no method"):
            view_settings.changed(settings, {"do": "method", "name": name})
    with pytest.raises(st.CallError, match="the viewer was not started with"):
        view_settings.changed(settings, {"do": "preset", "json": st.Pipeline(f"onnx:{folder}/net.onnx").to_json()})
    with pytest.raises(st.FormatError, match="must not run programs"):
        view_settings.changed(settings, {"do": "preset", "json": st.Pipeline("program:a {left} {right} {out}").to_json()})


# Robots


def test_pairs_of_robots_are_matched(folder):
    from stereopsis.ros.notes import Notes
    from stereopsis.ros.pairs import StampedPair
    from stereopsis.ros.processor import Matching, Processor

    left, right = images(folder)
    stamped = [StampedPair(k, "camera", k, left, right, None, None) for k in range(2)]
    processor = Processor(Matching(st.Pipeline(f"onnx:{folder}/net.onnx"), disparities=(0, D)), ["disparity"], Notes(lambda text: None))
    matched = list(processor.over(stamped))
    assert len(matched) == 2 and np.array_equal(matched[1].result.disparity, expected(left, right, D))
    assert matched[0].searched.window == (0, 0, 150, 101) and matched[0].searched.step < 1


# Large images


def test_tiles_of_a_network_have_a_halo(folder, tmp_path, capsys):
    rasterio = pytest.importorskip("rasterio", reason="rasterio reads large images")
    assert rasterio
    pair = [folder / f"scenes/table1/{name}.png" for name in ("left", "right")]
    (folder / "net.json").write_text('{"halo": 24}')
    try:
        plan = ["scale", "plan", tmp_path / "job", *pair, "--method", f"onnx:{folder}/net.onnx", "--disparities", D, "--tile", "64x64"]
        assert main([*map(str, plan)]) == 0
        said = capsys.readouterr().err
        assert "in tiles with a halo of 24 pixels is not exact" in said and "6 tile" in said
        assert main(["scale", "run", str(tmp_path / "job"), "--workers", "1", "--quiet"]) == 0
        assert main(["scale", "merge", str(tmp_path / "job"), "-o", str(tmp_path / "merged.tif")]) == 0
    finally:
        (folder / "net.json").unlink()
    wanted = expected(*images(folder), D)  # this network reads one row and D columns, which the halo contains
    np.testing.assert_array_equal(st.read_disparity(tmp_path / "merged.tif"), wanted)


def test_a_job_runs_no_program(folder, tmp_path, capsys):
    pytest.importorskip("rasterio", reason="rasterio reads large images")
    pair = [folder / f"scenes/table1/{name}.png" for name in ("left", "right")]
    plan = ["scale", "plan", tmp_path / "job", *pair, "--method", "program:a {left} {right} {out}", "--disparities", D]
    assert main([*map(str, plan)]) == 1
    assert "must not run programs" in capsys.readouterr().err
