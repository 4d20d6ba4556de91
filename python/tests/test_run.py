"""Runs over files, live sources and pairs of a caller."""

import threading

import numpy as np
import pytest

import stereopsis as st


@pytest.fixture(scope="module")
def scenes():
    return [st.synth("table", width=160, height=120, disparities=32, seed=i) for i in range(4)]


def test_a_run_has_the_bits_of_a_matcher(scenes, same_bits):
    done = list(st.Run(scenes, disparities=32, device="cpu", want="confidence"))
    assert [one.pair for one in done] == scenes
    with st.Matcher(disparities=32, device="cpu", want="confidence") as matcher:
        for one, scene in zip(done, scenes, strict=True):
            expected = matcher(scene.left, scene.right)
            same_bits(one.result.disparity, expected.disparity)
            same_bits(one.result.confidence, expected.confidence)
            assert one.disparities == (0, 32) and one.fault is None


def test_masks_of_a_pair_are_used(scenes):
    class Masked:
        left, right = scenes[0].left, scenes[0].right
        mask_left, mask_right = np.zeros((120, 160), np.uint8), None

    (done,) = st.Run([Masked()], disparities=32, device="cpu")
    assert np.isnan(done.result.disparity).all()


def test_a_pair_that_cannot_be_matched_ends_the_run_or_is_given_to_a_function(scenes):
    pairs = [scenes[0], (scenes[1].left, scenes[1].right[:90]), scenes[2]]
    before = []
    with pytest.raises(st.CallError, match="right"):
        for one in st.Run(pairs, disparities=32, device="cpu"):
            before.append(one.pair)
    assert before == [scenes[0]]
    failed = []
    done = list(st.Run(pairs, disparities=32, device="cpu", on_error=lambda pair, error: failed.append((pair, str(error)))))
    assert [one.pair for one in done] == [scenes[0], scenes[2]]
    assert len(failed) == 1 and failed[0][0] is pairs[1]


def test_faults_are_in_the_results(recwarn):
    scene = st.synth("room", width=320, height=240, disparities=48)
    first, second = st.Run([(scene.right, scene.left)] * 2, disparities=48, device="cpu")
    assert first.fault.kind == "negative disparities" and first.is_new_fault
    assert "pass the image of the left camera as left" in first.fault.sentence
    assert not second.is_new_fault
    assert not [warning for warning in recwarn if warning.category is st.PairWarning]


def test_options_change_from_the_next_pair_on(scenes):
    camera = st.LiveSource()
    run = st.Run(camera, disparities=32, device="cpu", in_flight=1)
    results = iter(run)
    camera.put(scenes[0])
    assert "confidence" not in next(results).result
    run.change(want="confidence", disparities=16)
    camera.put(scenes[1])
    done = next(results)
    assert "confidence" in done.result and done.disparities == (0, 16)
    with pytest.raises(st.CallError, match="device"):
        run.change(device=3)
    camera.put(scenes[2])
    assert next(results).disparities == (0, 16)


def test_a_run_is_stopped_after_the_pairs_in_flight(scenes):
    def endless():
        while True:
            yield scenes[0]

    run, count = st.Run(endless(), disparities=32, device="cpu"), 0
    for _ in run:
        count += 1
        if count == 2:
            run.stop()
    assert 2 <= count <= 5


def test_a_live_source_drops_the_oldest_pair_or_waits(scenes):
    newest = st.LiveSource(most=2)
    assert [newest.put(i) for i in range(4)] == [0, 0, 1, 1]
    newest.close()
    assert newest.put(9) == 1 and newest.dropped == 3
    assert list(newest) == [2, 3]
    every = st.LiveSource(when_full="wait")

    def deliver():
        for scene in scenes * 3:
            every.put(scene)
        every.close()

    thread = threading.Thread(target=deliver)
    thread.start()
    assert len(list(st.Run(every, disparities=32, device="cpu"))) == 12
    thread.join()
    assert every.dropped == 0 and every.take(timeout=0.01) is None


def test_one_pair_of_a_caller_is_judged_with_the_pair_before_it(scenes):
    run = st.Run(disparities=32, device="cpu")
    done = run.one(scenes[0])
    assert done.fault is None and done.result.measured_share > 0.7
    out = np.empty((120, 160), np.float32)
    assert run.one(scenes[1], judge=False, out={"disparity": out}).result.disparity is out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"source": 3}, "source=3 is not allowed"), ({"in_flight": 0}, "in_flight"), ({"dispartities": 3}, "disparities")],
)
def test_wrong_options_are_told(options, sentence):
    with pytest.raises((st.CallError, TypeError), match=sentence):
        st.Run(**options)


def test_options_beside_a_matcher_are_rejected():
    with pytest.raises(st.CallError, match="want is an option of the matcher"):
        st.Run(matcher=st.Matcher("sgm", disparities=8), want="confidence")
