"""A budget chooses the method and the size of the images; what is rejected beside it."""

import copy
import json
import pickle
import re
import subprocess
import sys
import time

import numpy as np
import pytest
import stereopsis as st
from dlpack_standin import OnGpu


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The file of the measured times, which is of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/stereopsis/times.json"


def times_of(file):
    return json.loads(file.read_text())["times"]


def least_ms(scene, **options):
    with pytest.raises(st.UnsupportedError, match=r"budget='0.0001ms' cannot be met: the least possible time of a pair is .* ms on cpu") as failed:
        st.match(scene.left, scene.right, 32, device="cpu", budget="0.0001ms", **options)
    return float(re.search(r"is ([0-9.]+) ms", str(failed.value))[1])


def test_the_options_of_the_choice_give_the_same_bits(scene, same_bits):
    generous = st.match(scene.left, scene.right, device="cpu", budget=100)
    assert generous.choice.method == "accurate" and generous.choice.factor == 1 and generous.choice.settings == {}
    tight = st.match(scene.left, scene.right, 32, device="cpu", budget=f"{least_ms(scene)}ms")
    assert tight.choice.options.keys() == {"method", "set", "disparities"}
    for result in (generous, tight):
        choice = result.choice
        assert choice.disparities == choice.options["disparities"]
        assert repr(choice).startswith(f"<choice of {choice.method}, ") and f"{choice.ms:.1f} ms a pair" in str(choice)
        again = st.match(scene.left, scene.right, device="cpu", **choice.options)
        assert again.choice is None
        same_bits(again.disparity, result.disparity)
        same_bits(st.match(scene.left, scene.right, choice.disparities, device="cpu", pipeline=choice.pipeline).disparity, result.disparity)


def test_times_are_measured_once_and_shared_with_the_command(scene, cache, tmp_path, command):
    for side in ("left", "right"):
        st.write_image(tmp_path / f"{side}.png", getattr(scene, side))
    choose = lambda budget: st.choose_method(scene.left, scene.right, budget, 32, device="cpu", align_rows="off")  # noqa: E731
    least = choose("100s")
    assert least.measured_now and not choose("100s").measured_now
    measured = times_of(cache)
    files = [tmp_path / "left.png", tmp_path / "right.png", "-o", tmp_path / "d.pfm", "--report", tmp_path / "report.json"]
    command("match", *files, "--disparities", 32, "--device", "cpu", "--align-rows", "off", "--budget", "100s")
    assert times_of(cache) == measured
    assert json.loads((tmp_path / "report.json").read_text())["budget"] == {"measured_now": False, "ms": least.ms, "options": ["--method", least.method]}


def test_a_matcher_chooses_for_the_first_pair_and_for_other_sizes(scene, cache):
    with st.Matcher(budget="100s", disparities=32, device="cpu") as matcher:
        assert matcher.choice is None
        with pytest.raises(st.CallError, match=r"budget='100s' chooses from a pair, and there was no pair yet; call explain\(left, right\)"):
            matcher.explain()
        first = matcher(scene.left, scene.right)
        assert first.choice is matcher.choice is not None
        assert matcher(scene.left, scene.right).choice is first.choice
        other = matcher(scene.left[:64].copy(), scene.right[:64].copy())
        assert other.choice is not first.choice and other.choice.method == "accurate"
        assert any("160x64x32" in key for key in times_of(cache))
        with pytest.raises(st.CallError, match="budget='100s' chooses the parameters; make a Matcher with the options of its choice"):
            matcher.set_params(**{"optimisation.p1": 5})
        for twin in (copy.copy(matcher), pickle.loads(pickle.dumps(matcher))):
            assert twin(scene.left, scene.right).choice.method == "accurate"


def test_streams_and_runs_have_the_choice_of_their_pairs(scene):
    pairs = [(scene.left, scene.right)] * 3
    with st.Matcher(budget="100s", disparities=32, device="cpu") as matcher:
        assert [result.choice.method for result in matcher.stream(pairs)] == ["accurate"] * 3
    assert [done.result.choice.method for done in st.Run(pairs, budget="100s", disparities=32, device="cpu")] == ["accurate"] * 3
    assert [done.result.choice.method for done in st.Run(pairs, seed_previous=True, budget="100s", disparities=32, device="cpu")] == ["accurate"] * 3


def test_a_method_that_is_given_is_kept(scene, same_bits):
    for given in ({"method": "zncc"}, {"method": "zncc", "set": {"cost.window": 3}}, {"pipeline": st.Pipeline("zncc").set("cost.window", 3)}):
        result = st.match(scene.left, scene.right, 32, device="cpu", budget="100s", **given)
        assert result.choice.method == "zncc" and result.choice.factor == 1
        smaller = st.match(scene.left, scene.right, 32, device="cpu", budget=f"{least_ms(scene, **given)}ms", **given)
        assert smaller.choice.method == "zncc" and smaller.disparity.shape == result.disparity.shape
        same_bits(st.match(scene.left, scene.right, device="cpu", **smaller.choice.options).disparity, smaller.disparity)
    seeds = np.where(np.random.default_rng(1).random(scene.disparity.shape) < 0.03, scene.disparity, np.float32(np.nan))
    guided = st.match(scene.left, scene.right, 32, device="cpu", budget="100s", seeds=seeds)
    assert guided.choice.method == "accurate", "seeds are no method"
    same_bits(st.match(scene.left, scene.right, device="cpu", seeds=seeds, **guided.choice.options).disparity, guided.disparity)


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"budget": "30"}, "budget='30' is not allowed; it must be the largest time of a pair with its unit, such as 30ms or 0.5s"),
        ({"budget": -1}, "budget=-1 is not allowed; it must be the largest time"),
        ({"budget": float("inf")}, "budget=inf is not allowed; it must be the largest time"),
        ({"budget": True}, "budget=True is not allowed; it must be a time such as '30ms', or a number of seconds"),
        ({"budget": []}, r"budget=\[\] is not allowed; it must be a number"),
        ({"method": "sgm", "set": {"prepare.stage": "reduce", "prepare.factor": 2}}, "budget='30ms' chooses the method or the size of the images, and sgm with prepare.factor=2 gives both"),
        ({"method": lambda left, right, disparities: left}, "budget='30ms' chooses among the methods and sizes of this library, which <lambda> is not"),
        ({"refine_only": True}, "budget='30ms' measures whole pairs of images, and refine_only gives something else"),
        ({"stripe": st.BoundaryStripe(0, 8)}, "budget='30ms' measures whole pairs of images, and stripe gives something else"),
    ],
)
def test_what_makes_no_sense_is_rejected_before_a_pair_is_matched(options, sentence):
    with pytest.raises(st.CallError, match=sentence):
        st.Matcher(**{"budget": "30ms", **options})


def test_several_devices_arrays_on_a_gpu_and_volumes_are_rejected(scene):
    other = next((device.name for device in st.devices() if device.usable and device.name != "cpu"), None)
    if other is not None:
        with pytest.raises(st.CallError, match=f"budget=0.03 measures one device, and device='cpu,{other}' names 2; give one device"):
            list(st.Matcher(budget=0.03, disparities=32, device=f"cpu,{other}").stream([(scene.left, scene.right)]))
    on_gpu = [OnGpu(np.ascontiguousarray(image)) for image in (scene.left, scene.right)]
    with pytest.raises(st.CallError, match="budget='30ms' measures pairs in host memory, and left is on a GPU; copy the images to the host"):
        st.match(*on_gpu, 32, budget="30ms")
    volume = np.zeros((120, 160, 32), np.uint8)
    with pytest.raises(st.CallError, match="budget='30ms' chooses a method, and volume replaces its costs; leave one of them out"):
        st.Matcher("sgm", budget="30ms", set={"cost.stage": "volume"}, device="cpu")(scene.left, scene.right, volume=volume)


def test_a_cache_that_cannot_be_used_is_a_warning(scene, cache):
    cache.parent.mkdir(parents=True)
    cache.write_text("[]")
    with pytest.warns(UserWarning, match="does not hold times that this program has written; it is ignored, and replaced"):
        choice = st.choose_method(scene.left, scene.right, "100s", 32, device="cpu")
    assert choice.measured_now and times_of(cache)


@pytest.mark.parametrize(
    "words, sentence, code",
    [
        (["--budget", "0.0001ms"], "--budget 0.0001ms cannot be met: the least possible time of a pair is ", 1),
        (["--budget", "30"], "--budget 30 is not allowed; it must be the largest time of a pair with its unit, such as 30ms or 0.5s", 2),
        (["--budget", "1s", "--method", "sgm", "--set", "prepare.stage=reduce", "--set", "prepare.factor=2"], "--budget 1s chooses the method or the size of the images, and", 2),
    ],
)
def test_the_viewer_does_not_start_with_a_wrong_budget(words, sentence, code):
    pytest.importorskip("websockets", reason="the viewer needs websockets: pip install '.[view]'")
    call = [sys.executable, "-m", "stereopsis", "view", "synth:table,160x120x32", "--device", "cpu", *words]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60)
    assert sentence in done.stderr and done.stderr.count("\n") == 1 and not done.stdout
    assert done.returncode == code


def test_the_viewers_engine_chooses_again_for_another_source(scene):
    """The budget is met only by the smallest images, of which none has been reduced before."""
    pytest.importorskip("websockets", reason="the viewer needs websockets: pip install '.[view]'")
    from stereopsis._budget import Budget
    from stereopsis.view.engine import Engine
    from stereopsis.view.settings import Settings
    from stereopsis.view.sources import synthetic

    def engine_with(budget):
        sources = [synthetic(f"synth:{name},160x120x32") for name in ("table", "garden")]
        settings = Settings(st.Pipeline("zncc"), device="cpu", budget=Budget(budget, f"--budget {budget}"), sized=st.Pipeline("zncc"))
        return Engine(sources, settings, playing=False)

    with pytest.raises(st.UnsupportedError, match="--budget 0.0001ms cannot be met") as failed:
        engine_with("0.0001ms").chosen_first()
    engine = engine_with(re.search(r"is ([0-9.]+ms)", str(failed.value).replace(" ms", "ms"))[1])
    first = engine.chosen_first()
    assert first.factor > 1 and engine.settings.choice is first and engine.settings.pipeline == first.pipeline
    engine.start()
    try:
        engine.change({"do": "source", "index": 1})
        end = time.monotonic() + 20
        while (engine.shown.settings.choice is first or engine.shown.settings.choice is None) and time.monotonic() < end:
            time.sleep(0.02)
        assert engine.shown.settings.choice.factor == first.factor and not engine.trouble
        engine.change({"do": "method", "name": "sgm"})
        assert engine.settings.choice is None and engine.settings.budget is None
    finally:
        engine.close()
