"""Matchers, their parameters, streams and errors."""

import copy
import gc
import os
import signal
import threading

import numpy as np
import pytest
import stereopsis as st


def test_parameters_are_set_for_the_next_pair(scene, same_bits):
    matcher = st.Matcher("sgm", disparities=32, device="cpu")
    before = matcher(scene.left, scene.right).disparity
    assert matcher.get_params()["optimisation.p1"] == 20
    chosen = {"sgm.p1": 3, "sgm.p2": 6, "sgm.p2_min": 5}
    assert matcher.set_params(**chosen) is matcher
    assert matcher.get_params()["optimisation.p1"] == 3
    changed = matcher(scene.left, scene.right).disparity
    assert not np.array_equal(changed, before, equal_nan=True)
    same_bits(changed, st.match(scene.left, scene.right, disparities=32, device="cpu", set=chosen).disparity)


def test_parameters_that_are_set_while_somebody_plans_count(scene, same_bits, monkeypatch):
    matcher = st.Matcher("sgm", disparities=32, device="cpu")
    chosen = {"sgm.p1": 3, "sgm.p2": 6, "sgm.p2_min": 5}
    planned = matcher._planned_for

    def slowly(*what):
        made = planned(*what)
        matcher.set_params(**chosen)  # as another thread would
        return made

    monkeypatch.setattr(matcher, "_planned_for", slowly)
    matcher(scene.left, scene.right)
    monkeypatch.undo()
    changed = matcher(scene.left, scene.right).disparity
    same_bits(changed, st.match(scene.left, scene.right, disparities=32, device="cpu", set=chosen).disparity)


def test_a_copy_has_parameters_of_its_own():
    matcher = st.Matcher("sgm", disparities=32)
    copy.copy(matcher).set_params(**{"sgm.p1": 3})
    assert matcher.get_params()["sgm.p1" if "sgm.p1" in matcher.get_params() else "optimisation.p1"] == 20


def test_parameters_have_aliases():
    pipeline = st.Pipeline("asw").set("asw.gamma_colour", 12)  # by the stage, with the earlier spelling
    assert pipeline.get("aggregation.gamma_color") == pipeline.get("asw.gamma_colour") == 12.0
    assert pipeline.full_name("asw.gamma_colour") == "aggregation.gamma_color"
    assert pipeline.full_name("aggregation.gamma_color") == "aggregation.gamma_color"
    assert pipeline.full_name("asw.gamma") == "asw.gamma"
    assert st.Pipeline.from_json(pipeline.to_json().replace("gamma_color", "gamma_colour")) == pipeline


def test_parameters_are_set_all_or_none():
    matcher = st.Matcher("sgm", disparities=32)
    before = matcher.get_params()
    with pytest.raises(st.CallError):
        matcher.set_params(**{"sgm.p1": 3, "sgm.p2": -1})
    assert matcher.get_params() == before


def test_parameters_come_with_what_a_slider_needs():
    for method in st.methods():
        for info in st.parameters(method.name):
            assert info.name and info.allowed and info.description and info.value == info.default
            if info.type == "choice":
                assert info.value in info.choices
            if info.type in ("integer", "number"):
                assert info.minimum <= float(info.value) <= info.maximum and info.step >= 0
        pipeline = st.Pipeline(method.name)
        assert pipeline.copy().set_params(**pipeline.get_params()) == pipeline
        assert all(pipeline.get(name) == value for name, value in pipeline.get_params().items())


def test_values_have_pythons_types():
    pipeline = st.Pipeline("sgm")
    assert pipeline.set("fill.enabled", False).get("fill.enabled") is False
    assert pipeline.set("left_right.threshold", np.float64(0.5)).get("left_right.threshold") == 0.5
    assert pipeline.set("refinements", ["left_right", "median"]).get("refinements") == ("left_right", "median")
    assert pipeline.set("refinements", "none").get("refinements") == ()
    pipeline.refinements = "median"
    assert pipeline.refinements == ("median",)
    with pytest.raises(st.CallError, match="cannot be the value of a parameter"):
        pipeline.set("sgm.p1", object())


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda l, r: st.match(l, r, 32, method="sgn"), "sgm"),
        (lambda l, r: st.match(l, r, 32, "esaw", pipeline=st.Pipeline("zncc")), "exclude each other"),
        (lambda l, r: st.match(l, r, 32, set={"sgm.p3": 1}), "p1"),
        (lambda l, r: st.match(l, r, 32, set={"sgm.p1": "many"}), "0 to 4095"),
        (lambda l, r: st.match(l, r, 32, device="gpu"), "gpu"),
        (lambda l, r: st.match(l, r, 0), "1 to 16384"),
        (lambda l, r: st.match(l, r, (5, 5)), "1 to 16384"),
        (lambda l, r: st.match(l, r, "many"), "disparities='many'"),
        (lambda l, r: st.match(l, r, 32, want=["confidenze"]), "confidenze"),
        (lambda l, r: st.match(l, r, 32, want=["depth"]), "rig"),
        (lambda l, r: st.match(l, r, 32, region=(0, 0, 1000, 10)), "1000"),
        (lambda l, r: st.match(l, r, 32, color="gbr"), "'rgb' or 'bgr'"),
        (lambda l, r: st.match(l, r, 32, frame="odd"), "'optical' or 'head'"),
        (lambda l, r: st.match(l, r, 32, bit_depth=12), "bit depth"),
        (lambda l, r: st.match(l, r, 32, implementation="slow"), "'oracle'"),
        (lambda l, r: st.synth("tables"), "table"),
        (lambda l, r: st.synth("table", nois=2), "noise"),
        (lambda l, r: st.synth(like="roads"), "did you mean 'road'?"),
        (lambda l, r: st.synth("street", like="road"), "give one of them"),
        (lambda l, r: next(st.Matcher().stream([(l, r)], in_flight=0)), "in_flight=0"),
        (lambda l, r: st.Pipeline.from_json("{}"), "method"),
    ],
)
def test_what_is_not_allowed_is_refused_in_a_sentence(scene, call, said):
    with pytest.raises(st.Error) as refused:
        call(scene.left, scene.right)
    assert isinstance(refused.value, ValueError)
    assert said in str(refused.value) and len(str(refused.value)) > 30


def test_json_that_is_nested_too_deeply(tmp_path):
    for depth in (65, 100_000):
        nested = "[" * depth + "]" * depth
        (tmp_path / "deep.json").write_text(nested)
        for read in (lambda: st.Pipeline.from_json(nested), lambda: st.Pipeline.read(tmp_path / "deep.json")):
            with pytest.raises(st.FormatError, match="nested more than 64 levels"):
                read()


def test_categories_are_pythons_own_exceptions_too(scene, tmp_path):
    with pytest.raises(OSError, match="nowhere.pfm") as missing:
        st.read_pfm(tmp_path / "nowhere.pfm")
    assert isinstance(missing.value, st.FileError)
    (tmp_path / "bad.pfm").write_bytes(b"Pf\n-1 2\n")
    with pytest.raises(st.FormatError) as bad:
        st.read_pfm(tmp_path / "bad.pfm")
    assert isinstance(bad.value, ValueError)
    with pytest.raises(MemoryError) as much:
        st.match(scene.left, scene.right, 32, device="cpu", memory_limit=1000)
    assert isinstance(much.value, st.OutOfMemoryError)
    for device in st.devices():
        if not device.usable:
            with pytest.raises(RuntimeError) as unsupported:
                st.match(scene.left, scene.right, 32, device=device.name)
            assert isinstance(unsupported.value, st.UnsupportedError)


def test_the_simd_targets_of_this_machine_return_the_same_bits(scene, same_bits):
    try:
        disparities = []
        for target in st.simd_targets():
            st.use_simd(target)
            disparities.append(st.match(scene.left, scene.right, 32, device="cpu").disparity)
        for disparity in disparities[1:]:
            same_bits(disparity, disparities[0])
        with pytest.raises(st.CallError, match="avx3"):
            st.use_simd("avx3")
        for target in {"neon", "sse4"} - set(st.simd_targets()):
            with pytest.raises(st.UnsupportedError, match=target):
                st.use_simd(target)
    finally:
        st.use_simd("auto")


def test_the_range_of_pictures_of_fewer_bits_is_estimated(scene):
    """10 bits in 16: a 64th as bright as they would be of 16."""
    left, right = ((image.astype(np.uint16) * 1023 + 127) // 255 for image in (scene.left, scene.right))
    first, end = st.check(left, right, bit_depth=10).disparities
    assert 0 <= first <= np.percentile(scene.disparity, 25) and np.percentile(scene.disparity, 98) < end < 48
    assert st.check(left, right).disparities[1] < 48, "the values are stretched for the estimate"
    matcher = st.Matcher(bit_depth=10, device="cpu")
    matcher(left, right)
    assert matcher.disparities == (first, end)


def barred(scene):
    """A pair with a black bar at the left border, and a white one inside."""
    images = [np.maximum(image, 9) for image in (scene.left, scene.right)]
    for image in images:
        image[:, :12] = 2
        image[20:50, 40:90] = 255
    return images


def test_constant_regions_are_not_measured_by_default(scene, same_bits):
    left, right = barred(scene)
    how = {"disparities": 32, "device": "cpu", "want": ["confidence"]}
    measured, off, on, black = (
        st.match(left, right, **how, **more) for more in ({"measure_constant": True}, {"black": None}, {}, {"black": 2})
    )
    assert measured.measured[25:45, 45:85].any()
    assert not off.measured[23:47, 43:87].any() and not off.measured[3:-3, :9].any()
    same_bits(off.disparity, measured.disparity)
    same_bits(on.validity, off.validity)
    assert (black.validity[:, :12] == st.validity.masked).all() and not (black.validity[:, 12:] & st.validity.masked).any()
    oracle = st.match(left, right, **how, black=2, implementation="oracle")
    for name in ("disparity", "validity", "confidence"):
        same_bits(getattr(oracle, name), getattr(black, name))


@pytest.mark.parametrize("black", [-1, 256, "2"])
def test_a_level_of_black_that_is_none(black):
    with pytest.raises(st.CallError, match="black=.* it must be an integer from 0 to 255"):
        st.Matcher(black=black)


def test_given_maps_are_marked_only_on_request(scene, same_bits):
    left, right = barred(scene)
    pipeline = st.Pipeline("sgm")
    pipeline.refinements = ()
    before = st.match(left, right, 32, device="cpu", measure_constant=True)
    for measure, expected in ((None, before), (False, st.match(left, right, 32, device="cpu", black=None))):
        matcher = st.Matcher(pipeline=pipeline, disparities=32, device="cpu", refine_only=True, measure_constant=measure)
        same_bits(matcher(left, right, maps=before).validity, expected.validity)


def test_a_closed_matcher_says_so(scene):
    matcher = st.Matcher("sgm", disparities=32)
    matcher.close()
    pair = scene.left, scene.right
    for call in (lambda: matcher(*pair), lambda: list(matcher.stream([pair])), matcher.explain, lambda: matcher.explain(*pair)):
        with pytest.raises(st.CallError, match="the matcher is closed"):
            call()


def test_explain_lists_the_steps(scene):
    matcher = st.Matcher("sgm", disparities=32, device="cpu")
    assert matcher.explain().size == (640, 480) and "640×480 on cpu" in str(matcher.explain())
    plan = matcher.explain(scene.left, scene.right)
    assert plan.size == (160, 120)
    assert plan.device == "cpu" and plan.workspace_bytes > 160 * 120 * 32
    assert any("sgm" in step.stage for step in plan.steps)
    assert str(plan).count("\n") == len(plan.steps)
    assert (
        st.Matcher("sgm", disparities=32, device="cpu", implementation="oracle").explain(scene.left, scene.right).steps
        != plan.steps
    )
    rig = st.Rig(focal=300, baseline=1, size=(200, 100))
    assert st.Matcher(disparities=8, device="cpu", rig=rig, want="depth").explain().size == (200, 100)
    assert matcher.set_params(**{"sgm.paths": 8}).explain().size == (160, 120)  # the size of the last pair
    with pytest.raises(st.CallError, match="give the search range"):
        st.Matcher().explain()


def test_slots_are_set_by_name(scene, same_bits):
    p = st.Pipeline("sgm")
    p.cost, p.aggregation, p.refinements = "rank", "box", ["left_right", "median"]
    assert (p.cost, p.aggregation, p.optimisation) == ("rank", "box", "sgm")
    assert p.refinements == ("left_right", "median") and p.get("cost.stage") == "rank"
    p.refinements = []
    assert p.refinements == ()
    with pytest.raises(st.CallError, match="census"):
        p.cost = "cenzus"
    with pytest.raises(AttributeError):
        p.costs = "rank"
    st.match(scene.left, scene.right, 32, device="cpu", pipeline=p)


def test_out_is_written_and_is_the_results(scene, same_bits):
    m = st.Matcher("sgm", disparities=32, device="cpu", want=["confidence", "cost"])
    expected = m(scene.left, scene.right)
    mine = np.full((130, 200), 7, np.float32)
    volume = np.zeros((120, 160, 32), expected.cost.dtype)
    r = m(scene.left, scene.right, out={"disparity": mine[5:125, 11:171], "cost": volume})
    assert r.cost is volume and np.shares_memory(r.disparity, mine)
    same_bits(mine[5:125, 11:171], expected.disparity)
    same_bits(volume, expected.cost)
    same_bits(r.validity, expected.validity)
    assert (mine[:5] == 7).all() and (mine[125:] == 7).all() and (mine[:, :11] == 7).all() and (mine[:, 171:] == 7).all()
    again = m(scene.right, scene.left, out=expected)
    assert again.disparity is expected.disparity and not np.array_equal(expected.disparity, r.disparity, equal_nan=True)
    part = st.Matcher("sgm", disparities=32, device="cpu", region=(20, 10, 60, 50), want="cost")
    small = np.zeros((50, 60, 32), expected.cost.dtype)
    same_bits(part(scene.left, scene.right, out={"cost": small}).cost, part(scene.left, scene.right).cost)


@pytest.mark.parametrize(
    "out, said",
    [
        ({"disparity": np.zeros((120, 161), np.float32)}, r"must be \(120, 160\) and float32"),
        ({"disparity": np.zeros((120, 160), np.uint8)}, "float32"),
        ({"disparity": np.zeros((120, 160))}, "float64"),
        ({"disparity": np.zeros((120, 320), np.float32)[:, ::2]}, "must be contiguous"),
        ({"confidence": np.zeros((120, 160), np.float32)}, "does not compute"),
        ({"disparity": np.broadcast_to(np.float32(3), (120, 160))}, "read-only"),
        ({"disparity": None}, "is a NoneType, not an array"),
    ],
)
def test_out_that_can_not_be_written(scene, out, said):
    with pytest.raises(st.CallError, match=said):
        st.Matcher("sgm", disparities=32, device="cpu")(scene.left, scene.right, out=out)


def test_out_that_shares_memory_is_rejected(scene, same_bits):
    matcher = st.Matcher("sgm", disparities=32, device="cpu", want=["confidence"])
    expected = matcher(scene.left, scene.right)
    left = np.zeros((120, 160, 3), np.uint8)
    left[...] = scene.left
    grey_left, grey_right = (np.ascontiguousarray(image[:, :, 1]) for image in (scene.left, scene.right))
    mask = np.full((120, 160), 255, np.uint8)
    floats = np.zeros((121, 320), np.float32)
    rejected = [
        ((grey_left, grey_right), {}, {"validity": grey_left}, "left"),
        ((grey_left, grey_right), {}, {"validity": grey_right}, "right"),
        ((left, scene.right), {"mask_left": mask}, {"validity": mask}, "mask_left"),
        ((left, scene.right), {"mask_right": mask}, {"validity": mask}, "mask_right"),
        ((left, scene.right), {}, {"disparity": floats[:120, :160], "confidence": floats[:120, :160]}, "out"),
        ((left, scene.right), {}, {"disparity": floats[:120, :160], "confidence": floats[1:, :160]}, "out"),
        ((left, scene.right), {}, {"disparity": floats[:120, :160], "confidence": floats[:120, 159:319]}, "out"),
    ]
    for pair, masks, out, with_what in rejected:
        before = {name: array.copy() for name, array in out.items()}
        with pytest.raises(st.CallError, match=r"^out\['.*shares? memory" + ("" if with_what == "out" else f" with {with_what}, which is an input")):
            matcher(*pair, **masks, out=out)
        for name, array in out.items():
            np.testing.assert_array_equal(array, before[name])
    beside = {"disparity": floats[:120, :160], "confidence": floats[:120, 160:]}  # columns of one array
    same_bits(matcher(left, scene.right, out=beside).disparity, expected.disparity)
    same_bits(floats[:120, 160:], expected.confidence)


def test_the_last_volume_that_there_is():
    volume = np.random.default_rng(1).integers(0, 60, (20, 30, 8), np.uint8)
    r = st.match_volume(volume, want=["volume"])
    assert r.volume is r.optimised is not None and r.volume.shape == (20, 30, 8)
    assert st.match_volume(volume, optimise="none", aggregate="box", want="volume").volume.shape == (20, 30, 8)
    with pytest.raises(st.CallError, match="it equals the given volume"):
        st.match_volume(volume, optimise="none", want=["volume"])
    assert "volume" not in st.match_volume(volume)


@pytest.mark.parametrize("region", [None, (30, 20, 80, 60)])
def test_probes_are_what_the_volumes_have_there(scene, same_bits, region):
    states = ["cost", "aggregated", "optimised"]
    probes = [(40, 30), (100, 75), (40, 30)]
    common = dict(disparities=(-3, 29), device="cpu", region=region, pipeline=st.Pipeline("sgm").set("aggregation.stage", "box"))
    whole = st.match(scene.left, scene.right, want=states, **common)
    with st.Matcher(probes=probes, **common) as m:
        r = m(scene.left, scene.right)
        assert "cost" not in r and set(r.probed) == set(states) and m.probes == probes
        x0, y0 = region[:2] if region else (0, 0)
        for state in states:
            same_bits(r.probed[state], np.stack([getattr(whole, state)[y - y0, x - x0] for x, y in probes]))
        same_bits(r.disparity, whole.disparity)
        m.probes = [(77, 66)]
        for other in m.stream([(scene.left, scene.right)] * 2):
            same_bits(other.probed["cost"][0], whole.cost[66 - y0, 77 - x0])
        m.probes = []
        assert "probed" not in m(scene.left, scene.right)


@pytest.mark.parametrize("probes, said", [([(160, 3)], "160,3"), ([3], "pixels"), ([("a", 1)], "pixels"), (5, "pixels")])
def test_probes_that_are_none(scene, probes, said):
    with pytest.raises(st.CallError, match=said):
        st.match(scene.left, scene.right, 32, device="cpu", probes=probes)


def test_a_plan_is_freed_before_the_next_one_is_made(scene, monkeypatch):
    from stereopsis import _matching, _native

    alive, most = set(), 0

    class Counted(_native.Matcher):
        def __init__(self, *given, **named):
            nonlocal most
            most = max(most, len(alive) + 1)
            super().__init__(*given, **named)
            alive.add(id(self))

        def __del__(self):
            alive.discard(id(self))

    monkeypatch.setattr(_matching._native, "Matcher", Counted)
    m = st.Matcher("sgm", disparities=16, device="cpu")
    for rows in (120, 60, 90, 60):
        m(scene.left[:rows], scene.right[:rows])
        list(m.stream([(scene.left[:rows], scene.right[:rows])] * 3, in_flight=1))
    assert most == 1


def test_sizes_and_types_may_change(scene, same_bits):
    matcher = st.Matcher("sgm", disparities=32, device="cpu")
    whole = matcher(scene.left, scene.right)
    part = matcher(scene.left[:50], scene.right[:50])
    assert part.disparity.shape == (50, 160)
    same_bits(matcher(scene.left, scene.right).disparity, whole.disparity)


class Alive:
    """Stands for an object of the compiled module, and counts the objects that are alive."""

    count = 0

    def __init__(self, one):
        self.one = one
        Alive.count += 1

    def __del__(self):
        Alive.count -= 1

    def __getattr__(self, name):
        return getattr(self.one, name)

    def enqueue(self, *what):
        return Alive(self.one.enqueue(*what))  # a pair in flight keeps its workspace


@pytest.mark.parametrize("in_flight", [1, 3])
def test_a_stream_never_holds_two_workspaces(scene, monkeypatch, in_flight):
    matcher, before = st.Matcher("sgm", disparities=16, device="cpu", warn_of_pair=False), []
    planned = matcher._planned_for

    def counted(*what):
        before.append(Alive.count)
        return Alive(planned(*what))

    monkeypatch.setattr(matcher, "_planned_for", counted)
    pairs = [(scene.left[:rows], scene.right[:rows]) for rows in (60, 60, 90, 90, 60)]
    results = list(matcher.stream(pairs, in_flight=in_flight))
    assert [r.disparity.shape[0] for r in results] == [60, 60, 90, 90, 60]
    assert before == [0, 0, 0]


@pytest.mark.parametrize("in_flight", [1, 3])
def test_a_stream_is_its_pairs_one_by_one_in_order(in_flight, same_bits):
    scenes = [st.synth("room", width=96, height=64, disparities=16, seed=seed) for seed in range(7)]
    matcher = st.Matcher("sgm", disparities=16, device="cpu")
    results = list(matcher.stream(((s.left, s.right) for s in scenes), in_flight=in_flight))
    assert len(results) == len(scenes)
    for scene, result in zip(scenes, results):
        same_bits(result.disparity, matcher(scene.left, scene.right).disparity)


def test_a_pair_is_asked_for_when_fewer_are_in_flight(scene):
    for in_flight in (1, 2, 3):
        asked, given, ahead = 0, 0, []

        def pairs():
            nonlocal asked
            for _ in range(8):
                ahead.append(asked - given)
                asked += 1
                yield scene.left, scene.right

        for _ in st.Matcher("sgm", disparities=32, device="cpu").stream(pairs(), in_flight=in_flight):
            given += 1
        assert given == 8 and max(ahead) == in_flight - 1


@pytest.mark.parametrize("colour", ["rgb", "nv12"])
@pytest.mark.parametrize("in_flight", [1, 2, 3, 5])
def test_a_stream_may_refill_its_arrays(in_flight, colour, same_bits):
    height = 96 if colour == "nv12" else 64
    frames = [np.random.default_rng(i).integers(0, 255, (2, height, 96), np.uint8) for i in range(8)]
    matcher = st.Matcher("sgm", disparities=16, device="cpu", color=colour, warn_of_pair=False)
    room = np.zeros((2, height, 128), np.uint8)

    def refilled():
        for left, right in frames:
            room[0, :, :96], room[1, :, :96] = left, right
            yield room[0, :, :96], room[1, :, :96]
        room[:] = 0

    results = list(matcher.stream(refilled(), in_flight=in_flight))
    assert len(results) == len(frames)
    for result, frame in zip(results, frames):
        same_bits(result.disparity, matcher(*frame).disparity)


def test_without_copies_a_stream_rejects_memory_in_flight(scene, same_bits):
    matcher = st.Matcher("sgm", disparities=32, device="cpu")
    pair = scene.left, scene.right
    expected = matcher(*pair).disparity
    rooms = [tuple(image.copy() for image in pair) for _ in range(3)]
    for result in matcher.stream((rooms[i % 3] for i in range(9)), in_flight=3, copy=False):
        same_bits(result.disparity, expected)
    for result in matcher.stream([pair] * 4, in_flight=1, copy=False):
        same_bits(result.disparity, expected)
    both = np.concatenate(pair, axis=1)  # side by side: no byte is shared
    side_by_side = [(both[:, :160], pair[1]), (both[:, 160:], pair[1].copy())]
    assert len(list(matcher.stream([rooms[0], *side_by_side], in_flight=3, copy=False))) == 3
    for again in ((pair[0], rooms[0][1]), (rooms[0][0], pair[1]), (pair[0][:, :, :], rooms[1][1])):
        done = []
        with pytest.raises(st.CallError, match="shares memory with a pair in flight"):
            for result in matcher.stream([rooms[2], pair, again], in_flight=3, copy=False):
                done.append(result)
        assert not done


@pytest.mark.parametrize("wrong", [None, 3, (1, 2, 3), "l"])
def test_what_is_no_pair_is_told(wrong):
    with pytest.raises(st.CallError, match="is not a pair; it must give"):
        list(st.Matcher("sgm", disparities=8, device="cpu").stream([wrong]))


def test_the_order_of_parameters_does_not_matter(scene, same_bits):
    chosen = {"zncc.window": 7, "cost.stage": "zncc", "median.window": 5, "refinements": ["median"]}
    expected = st.match(scene.left, scene.right, 32, device="cpu", set=dict(reversed(chosen.items()))).disparity
    same_bits(st.match(scene.left, scene.right, 32, device="cpu", set=chosen).disparity, expected)
    same_bits(st.match(scene.left, scene.right, 32, device="cpu", pipeline=st.Pipeline().set_params(**chosen)).disparity, expected)


def test_a_stream_is_shared_by_several_devices(same_bits):
    names = ["cpu", *(device.name for device in st.devices() if device.usable and device.name != "cpu")]
    scenes = [st.synth("room", width=96, height=64, disparities=16, seed=seed) for seed in range(7)]
    matcher = st.Matcher("sgm", disparities=16, device=",".join(names))
    alone = st.Matcher("sgm", disparities=16, device="cpu")
    results = list(matcher.stream(((s.left, s.right) for s in scenes), in_flight=2))
    assert len(results) == len(scenes) and matcher.lost == {}
    for scene, result in zip(scenes, results):
        same_bits(result.disparity, alone(scene.left, scene.right).disparity)
    same_bits(matcher(scenes[0].left, scenes[0].right).disparity, results[0].disparity)
    with pytest.raises(st.CallError, match="named twice"):
        st.match(scenes[0].left, scenes[0].right, 16, device="cpu,cpu")


def test_a_stream_may_be_left_and_may_fail(scene):
    matcher = st.Matcher("sgm", disparities=32, device="cpu")
    pairs = [(scene.left, scene.right)] * 5
    for _ in matcher.stream(pairs):
        break
    done = []
    with pytest.raises(st.CallError, match="^left has the type float64"):
        for result in matcher.stream(pairs + [(scene.left.astype(float), scene.right)], in_flight=2):
            done.append(result)
    assert len(done) == 5  # the pairs before it
    assert matcher(scene.left, scene.right).density > 0.5


@pytest.fixture
def interruptible():
    """Whoever starts the tests in the background may have SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_control_c_ends_a_stream(scene, interruptible):
    matcher = st.Matcher("sgm", disparities=32, device="cpu")

    def endless():
        for i in range(100000):
            if i == 5:
                signal.raise_signal(signal.SIGINT)
            yield scene.left, scene.right

    count = 0
    with pytest.raises(KeyboardInterrupt):
        for _ in matcher.stream(endless()):
            count += 1
    assert count < 10
    assert matcher(scene.left, scene.right).density > 0.5


def test_others_run_while_a_pair_is_matched():
    scene = st.synth("table", width=640, height=480, disparities=64)
    ticks, done = [0], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks[0] += 1

    other = threading.Thread(target=tick)
    other.start()
    try:
        st.match(scene.left, scene.right, 64, device="cpu", implementation="oracle")
    finally:
        done.set()
        other.join()
    assert ticks[0] > 10


def test_threads_share_a_matcher(scene, same_bits):
    matcher = st.Matcher("sgm", disparities=32, device="cpu")
    expected = matcher(scene.left, scene.right).disparity
    results = []
    threads = [threading.Thread(target=lambda: results.append(matcher(scene.left, scene.right))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for result in results:
        same_bits(result.disparity, expected)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_ten_thousand_calls_leave_memory_and_descriptors_as_they_were():
    scene = st.synth("table", width=32, height=24, disparities=8)
    matcher = st.Matcher("sgm", disparities=8, device="cpu", want=["confidence"])
    wrong = scene.left.astype(float)

    def call(times):
        for i in range(times):
            matcher(scene.left, scene.right)
            if i % 10 == 0:
                list(matcher.stream([(scene.left, scene.right)] * 2))
                with pytest.raises(st.CallError):
                    matcher(wrong, scene.right)
        gc.collect()

    call(1000)
    memory, files = resident(), len(os.listdir("/proc/self/fd"))
    call(10000)
    assert resident() - memory < 4 << 20  # a leak of one image a call would be 30 MB
    assert len(os.listdir("/proc/self/fd")) == files


@pytest.mark.parametrize(
    "call",
    [
        lambda l, r: st.Matcher("sgm", set=1.5),
        lambda l, r: st.Matcher("sgm", set=range(3)),
        lambda l, r: st.Matcher("sgm\0"),
        lambda l, r: st.Matcher("sgm", want=["right\0"]),
        lambda l, r: st.Matcher("sgm", want=np.array(5)),
        lambda l, r: st.Matcher("sgm", probes=np.array(5)),
        lambda l, r: st.Pipeline("\ud800"),
        lambda l, r: st.Pipeline("sgm").set("cost.stage", "\ud800"),
        lambda l, r: st.Pipeline("sgm").set("cost.stage", "\xe9\0 and more"),
        lambda l, r: setattr(st.Pipeline("sgm"), "refinements", np.array(5)),
        lambda l, r: st.Pipeline.from_json(range(3)),
        lambda l, r: st.Pipeline.from_json(st.Pipeline("sgm").to_json().replace("{", "{\U0001f600", 1)),
        lambda l, r: st.Matcher("sgm", disparities=8, device="cpu")(l, r, out={3: l}),
        lambda l, r: st.Matcher("sgm", disparities=8, device="cpu")(l, r, out=3),
        lambda l, r: st.Matcher("sgm", disparities=8, device="cpu")(l, r, maps=3),
        lambda l, r: st.Matcher("sgm", disparities=8).stream([(l, r)], progress=np.zeros(2)),
        lambda l, r: st.synth("\xe9\0"),
        lambda l, r: st.cv2.StereoSGBM_create([1], 16),
        lambda l, r: st.cv2.StereoSGBM_create(0, 16, speckleRange="2"),
        lambda l, r: st.cv2.StereoSGBM_create(0, 16).compute(l, r, [1]),
    ],
)
def test_arguments_of_another_kind_are_refused_in_a_sentence(scene, call):
    """Found by calls at random."""
    with pytest.raises((st.CallError, st.FormatError)) as refused:
        call(scene.left, scene.right)
    assert "\n" not in str(refused.value) and "; " in str(refused.value)
