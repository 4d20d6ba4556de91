"""Stages of one's own, in Python."""

import asyncio
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import stereopsis as st

D = 24


@pytest.fixture(scope="module")
def pair():
    scene = st.synth("table", width=96, height=64, disparities=D, noise=2)
    return [np.ascontiguousarray(image[..., 1]) for image in (scene.left, scene.right)]


def difference(call):
    h, w, count = call.made.shape
    for k in range(count):
        at = np.clip(np.arange(w) - call.first - k, 0, w - 1)
        call.made[:, :, k] = np.minimum(abs(call.reference.astype(int) - call.other.astype(int)[:, at]), 60)


def plain(**more):
    return st.Pipeline("sgm").update(
        {"aggregation.stage": "none", "sgm.gradient": 0, "sgm.p2_min": 0, "refinements": ["median"], **more}
    )


def test_a_cost_is_the_volume_that_it_makes(pair, same_bits):
    m = st.Matcher(
        pipeline=plain().set_stage("cost", difference),
        disparities=(-2, D - 2),
        device="cpu",
        want=["cost", "times"],
    )
    r = m(*pair)
    volume = np.zeros((64, 96, D), np.uint8)
    difference(
        st.StageCall(*pair, None, None, None, volume, None, None, None, -2, D, False, 1, None)
    )
    same_bits(r.cost, volume)
    given = st.Matcher(pipeline=plain(**{"cost.stage": "volume"}), disparities=(-2, D - 2), device="cpu")
    same_bits(r.disparity, given(None, None, volume=volume).disparity)
    assert "difference" in r.times and any(step.name == "difference" for step in m.explain().steps)
    same_bits(m(*pair).disparity, r.disparity)


def test_a_slot_is_set_to_a_function(pair, same_bits):
    p = plain()
    p.cost = difference
    expected = st.match(*pair, D, pipeline=plain().set_stage("cost", difference), device="cpu").disparity
    same_bits(st.match(*pair, D, pipeline=p, device="cpu").disparity, expected)
    with pytest.raises(st.CallError, match="no stage '3' for the slot 'cost'"):
        p.cost = 3


def test_a_filter_and_a_refinement(pair):
    seen = {}

    def keep(call):
        seen["filter"] = call.costs.shape, call.costs.dtype, call.made.shape, call.costs.flags.writeable
        call.made[...] = call.costs

    def drop_left_half(call):
        seen["refinement"] = call.disparity.dtype, call.validity.dtype
        half = call.disparity.shape[1] // 2
        call.disparity[:, :half] = np.nan
        call.validity[:, :half] = st.validity.ambiguous

    pipeline = plain(**{"cost.stage": "census"})
    expected = st.match(*pair, D, pipeline=pipeline, device="cpu", want=["cost"])
    pipeline.set_stage("aggregation", keep, makes=str(expected.cost.dtype), largest=int(expected.cost.max()))
    pipeline.set_stage("refinement", drop_left_half, name="drop")
    r = st.match(*pair, D, pipeline=pipeline, device="cpu")
    assert np.isnan(r.disparity[:, :48]).all() and (r.validity[:, :48] == st.validity.ambiguous).all()
    np.testing.assert_array_equal(r.disparity[:, 48:], expected.disparity[:, 48:])
    assert seen["filter"] == ((64, 96, D), expected.cost.dtype, (64, 96, D), False)
    assert seen["refinement"] == (np.float32, np.uint8)


def test_refinements_are_given_as_other_stages(pair):
    def drop_left_half(call):
        call.disparity[:, : call.disparity.shape[1] // 2] = np.nan  # without a reason

    long = plain().set_stage("refinement", drop_left_half)
    expected = st.match(*pair, D, pipeline=long, device="cpu")
    assert np.isnan(expected.disparity[:, :48]).all() and ((expected.validity[:, :48] & 63) != 0).all()
    np.testing.assert_array_equal(np.isnan(expected.disparity), (expected.validity & 63) != 0)
    short = plain()
    short.refinement = drop_left_half
    listed = plain()
    listed.refinements = [*listed.refinements, drop_left_half]
    for pipeline in (short, listed):
        assert pipeline.refinements == long.refinements and pipeline.refinements[-1] == "user_refinement"
        np.testing.assert_array_equal(st.match(*pair, D, pipeline=pipeline, device="cpu").disparity, expected.disparity)
    listed.refinements = [drop_left_half, "fill"]
    assert listed.refinements == ("user_refinement", "fill")
    assert not np.isnan(st.match(*pair, D, pipeline=listed, device="cpu").disparity[:, 10:40]).all()
    with pytest.raises(st.CallError, match="must be a function"):
        listed.refinement = "median"
    with pytest.raises(st.CallError, match="medain"):
        listed.refinements = [drop_left_half, "medain"]
    with pytest.raises(st.CallError, match="itself"):
        listed.refinements = ["user_refinement", drop_left_half]
    assert listed.refinements == ("user_refinement", "fill")


def test_a_region_asks_what_a_part_needs():
    scene = st.synth("table", width=320, height=200, disparities=D)
    pair = [np.ascontiguousarray(image[..., 1]) for image in (scene.left, scene.right)]
    asked = []

    def smooth(call):
        h, w = call.reference.shape
        asked.append((w, h))
        difference(call)

    def needed(x, y, w, h):
        return x - 3, y - 3, w + 6, h + 6

    pipeline = st.Pipeline("prehn-window").set("refinements", "none").set_stage("cost", smooth, required_input=needed)
    whole = st.match(*pair, D, pipeline=pipeline, device="cpu")
    part = st.match(*pair, D, pipeline=pipeline, device="cpu", region=(140, 90, 16, 10))
    np.testing.assert_array_equal(part.disparity[90:100, 140:156], whole.disparity[90:100, 140:156])
    assert asked[0] == (320, 200) and 16 + D < asked[-1][0] < 200 and 10 < asked[-1][1] < 170


@pytest.mark.parametrize("slot", ["cost", "aggregation", "optimisation", "refinement"])
@pytest.mark.parametrize("text", ["no file '\udcff'", b"\xff", "a\0b"])
def test_an_exception_may_have_any_text(pair, slot, text):
    def fail(call):
        raise OSError(text)

    with pytest.raises(st.CallError, match="the stage 'fail' failed: OSError: ") as raised:
        st.match(*pair, D, pipeline=plain().set_stage(slot, fail), device="cpu")
    assert raised.value.__cause__.args == (text,)
    with pytest.raises(st.CallError, match=r"required_input failed with OSError: "):
        st.match(*pair, D, pipeline=plain().set_stage(slot, difference, required_input=fail_at(text)), region=(9, 9, 9, 9))


def fail_at(text):
    def fail(*_):
        raise OSError(text)

    return fail


def test_arrays_of_a_call_may_be_kept(pair):
    kept = []

    def keep(call):
        kept.append((call.reference, call.reference[2:], call.made[1:], call.reference.copy()))
        difference(call)
        kept[-1] += (call.made.copy(),)

    m = st.Matcher(pipeline=plain().set_stage("cost", keep), disparities=D, device="cpu")
    for left, right in (pair, pair[::-1]):
        expected = st.match(left, right, D, pipeline=plain().set_stage("cost", difference), device="cpu")
        np.testing.assert_array_equal(m(left, right).disparity, expected.disparity)
    m.close()
    assert len(kept) == 2
    for reference, lower, made, copy, costs in kept:
        np.testing.assert_array_equal(reference, copy)
        np.testing.assert_array_equal(lower, copy[2:])
        made += 1
        np.testing.assert_array_equal(made, costs[1:] + 1)


def test_what_goes_wrong_is_told(pair):
    def fail(call):
        raise KeyError("no such weights")

    def forget(call):
        pass

    for function, said in ((fail, "KeyError: 'no such weights'"), (forget, "wrote no costs")):
        m = st.Matcher(pipeline=plain().set_stage("cost", function), disparities=D, device="cpu")
        with pytest.raises(st.CallError, match=said) as raised:
            m(*pair)
        assert f"'{function.__name__}'" in str(raised.value)
        assert isinstance(raised.value.__cause__, KeyError) == (function is fail)
    with pytest.raises(st.CallError, match="cannot be in the slot 'select'"):
        plain().set_stage("select", difference)
    with pytest.raises(st.CallError, match="must be uint8, uint16 or float32"):
        plain().set_stage("cost", difference, makes="int8")
    with pytest.raises(st.CallError, match=r"must return \(x, y, width, height\)"):
        st.match(*pair, D, pipeline=plain().set_stage("cost", difference, required_input=lambda *part: 3), region=(9, 9, 9, 9))
    with pytest.raises(st.Error, match=r"user-defined stage \(cost\) cannot be pickled"):
        pickle.dumps(plain().set_stage("cost", difference))


def test_a_stage_that_failed_leaves_no_array_behind(pair):
    calls = []

    def fail(call):
        calls.append(call)
        left = call.reference
        raise ValueError(left.shape)

    with pytest.raises(st.CallError) as raised:
        st.match(*pair, D, pipeline=plain().set_stage("cost", fail), device="cpu")
    assert calls[0].reference is None and calls[0].made is None
    trace = raised.value.__cause__.__traceback__
    while trace is not None:
        assert not {"call", "left"} & set(trace.tb_frame.f_locals) or trace.tb_frame.f_code is not fail.__code__
        trace = trace.tb_next


def test_an_old_cause_is_not_that_of_another_error(pair):
    def fail(call):
        raise ValueError("of a pair that nobody waits for")

    m = st.Matcher(pipeline=plain().set_stage("cost", fail), disparities=D, device="cpu")

    def pairs():
        yield pair
        yield pair
        raise RuntimeError("no more")

    with pytest.raises((RuntimeError, st.Error)):
        list(m.stream(pairs(), in_flight=3))
    with pytest.raises(st.CallError) as raised:
        st.Pipeline("nosuch")
    assert raised.value.__cause__ is None


def test_a_stage_runs_in_streams_and_threads(pair, same_bits):
    pipeline = plain().set_stage("cost", difference, largest=60)
    expected = st.match(*pair, D, pipeline=pipeline, device="cpu").disparity
    m = st.Matcher(pipeline=pipeline, disparities=D, device="cpu")
    for r in m.stream([pair] * 5, in_flight=3):
        same_bits(r.disparity, expected)
    found = []
    threads = [threading.Thread(target=lambda: found.append(m(*pair))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for r in found:
        same_bits(r.disparity, expected)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("where", ["call", "stream", "required_input"])
def test_an_interruption_of_a_stage_stays_what_it_is(pair, same_bits, interruption, where):
    interrupted = True

    def stage(call):
        if interrupted and where != "required_input":
            raise interruption("now")
        difference(call)

    def needed(*part):
        if interrupted and where == "required_input":
            raise interruption("now")
        return part

    region = (8, 8, 40, 40) if where == "required_input" else None
    m = st.Matcher(pipeline=plain().set_stage("cost", stage, required_input=needed), disparities=D, device="cpu", region=region)
    with pytest.raises(interruption, match="now"):
        list(m.stream([pair] * 3)) if where == "stream" else m(*pair)
    interrupted = False
    expected = st.match(*pair, D, pipeline=plain().set_stage("cost", difference), device="cpu", region=region)
    same_bits(m(*pair).disparity, expected.disparity)


def test_an_interruption_while_an_array_is_taken_stays_what_it_is(pair):
    class Interrupted:
        def __dlpack_device__(self):
            raise KeyboardInterrupt

        def __dlpack__(self, **how):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        st.match(Interrupted(), pair[1], D, device="cpu")


def test_each_error_has_its_own_cause(pair):
    """The stages of two matchers fail at the same time."""
    both = threading.Barrier(2)

    def fails(kind):
        def stage(call):
            both.wait(20)
            raise kind

        return st.Matcher(pipeline=plain().set_stage("cost", stage), disparities=D, device="cpu")

    found = {}

    def match(kind):
        for _ in range(20):
            with pytest.raises(st.CallError) as raised:
                fails(kind)(*pair)
            found.setdefault(kind, set()).add(type(raised.value.__cause__))

    threads = [threading.Thread(target=match, args=[kind]) for kind in (KeyError, IndexError)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {KeyError: {KeyError}, IndexError: {IndexError}}


def entering(enter):
    """A matcher whose stage calls `enter(matcher)`, and what that raised."""
    raised, m = [], None

    def stage(call):
        if not raised:
            try:
                enter(m)
                raised.append(None)
            except st.CallError as error:
                raised.append(str(error))  # keeping the error itself would keep the stage's arrays by its traceback
        difference(call)

    m = st.Matcher(pipeline=plain().set_stage("cost", stage), disparities=D, device="cpu")
    return m, raised


def in_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


@pytest.mark.parametrize("begun_by", ["call", "stream"])
@pytest.mark.parametrize("way", ["call", "stream", "another size", "amatch", "thread", "pool"])
def test_a_matcher_that_its_own_stage_calls_is_rejected(pair, same_bits, begun_by, way):
    from_thread = []

    def from_other(m):
        try:
            m(*pair)
        except st.CallError as error:
            from_thread.append(str(error))

    def pooled(m):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(m, *pair).result()

    enter = {
        "call": lambda m: m(*pair),
        "stream": lambda m: list(m.stream([pair])),
        "another size": lambda m: m(pair[0][:40], pair[1][:40]),
        "amatch": lambda m: asyncio.run(m.amatch(*pair)),
        "thread": lambda m: in_thread(lambda: from_other(m)),
        "pool": pooled,
    }[way]
    m, raised = entering(enter)
    result = m(*pair) if begun_by == "call" else next(m.stream([pair] * 2))
    same_bits(result.disparity, st.match(*pair, D, pipeline=plain().set_stage("cost", difference), device="cpu").disparity)
    (error,) = from_thread if way == "thread" else raised
    assert "own stages" in error and "use another matcher" in error
    same_bits(m(*pair).disparity, result.disparity)


def test_stages_may_call_other_matchers_but_not_in_a_circle(pair, same_bits):
    other = st.Matcher(pipeline=plain(**{"cost.stage": "census"}), disparities=D, device="cpu")
    expected = other(*pair).disparity
    m, raised = entering(lambda m: same_bits(other(*pair).disparity, expected))
    m(*pair)
    assert raised == [None]

    matchers, begun, both_begun, errors = [], set(), threading.Barrier(2), []

    def calls_the_other(number):
        def stage(call):
            if number not in begun:
                begun.add(number)
                both_begun.wait(20)
                try:
                    matchers[1 - number](*pair)
                except st.CallError as error:
                    errors.append(str(error))
            difference(call)

        return st.Matcher(pipeline=plain().set_stage("cost", stage), disparities=D, device="cpu")

    matchers += [calls_the_other(0), calls_the_other(1)]
    threads = [threading.Thread(target=m, args=pair, daemon=True) for m in matchers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert errors and all("own stages" in error for error in errors)
