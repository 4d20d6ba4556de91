"""Rigs that move while they run."""

import numpy as np
import pytest

import stereopsis as st
from moving_rig import HIT, RIG, is_found, pairs

HOW = {"disparities": 24, "device": "cpu", "warn_of_pair": False}


def test_a_run_corrects_a_rig_that_moves(tmp_path):
    tracker = st.RigTracker(RIG)
    done = list(st.Run(pairs(), disparities=24, device="cpu", calibration=tracker))
    rows = [one.result.rows.plane.rms for one in done]
    assert rows[HIT] > 1 and rows[-1] < 0.2
    assert is_found(tracker.turn)
    news = tracker.news()
    assert [one.kind for one in news[:2]] == ["jumped", "corrected"] and tracker.news() == []
    assert news[0].pair == HIT and news[0].is_warning and "pitch 0." in news[1].sentence
    tracker.calibration.write(tmp_path / "rig.yml")
    corrected = st.read_calibration(tmp_path / "rig.yml")
    after = st.Matcher(**HOW, calibration=corrected, align_rows="auto")(*pairs()[-1])
    assert after.rows.plane.rms < 0.2


def test_calls_and_streams_of_a_matcher_follow_the_rig_too():
    given = pairs(28)
    trackers = [st.RigTracker(RIG) for _ in range(2)]
    matchers = [st.Matcher(**HOW, calibration=tracker, align_rows="auto") for tracker in trackers]
    called = [matchers[0](*pair).disparity for pair in given]
    list(matchers[1].stream(given))
    assert [is_found(tracker.turn) for tracker in trackers] == [True, True]
    assert trackers[0].turn.pitch == trackers[1].turn.pitch
    unmoved = st.match(*given[0], **HOW, align_rows="auto").disparity
    assert np.mean(np.abs(called[0] - unmoved) <= 1) > 0.95  # its own maps leave the first pairs as they are


def test_only_known_cameras_are_followed():
    with pytest.raises(st.CallError, match="a Calibration or a Rig"):
        st.RigTracker("rig.yml")
    with pytest.raises(st.CallError, match="the rig has no size"):
        st.RigTracker(st.Rig(focal=300, baseline=0.1, cx_left=159.5, cy=119.5))
