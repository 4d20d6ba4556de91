"""Tests that stripes and tiles give the same result as the whole image."""

import re

import numpy as np
import pytest
import stereopsis as st

pytest.importorskip("rasterio", reason="rasterio reads and writes what scale does; ./dev python installs it")

import scale_jobs as jobs  # noqa: E402
from stereopsis import scale  # noqa: E402
from stereopsis.scale import rasters  # noqa: E402
from stereopsis.scale.spans import Span  # noqa: E402
from stereopsis.scale.states import packed, unpacked  # noqa: E402

RANGE = (-3, 29)
OPTIONS = scale.Options()


@pytest.fixture(scope="module")
def scene():
    return jobs.synthetic(150, 230, 26)


def whole(scene, pipeline, **how):
    return st.match(scene.left, scene.right, RANGE, pipeline=pipeline, device="cpu", **how)


def pipeline_of(method, settings):
    return st.Pipeline(method).update(settings)


SGM = [
    ("sgm", {"sgm.paths": 4}),
    ("sgm", {"sgm.paths": 8}),
    ("sgm", {"sgm.paths": 8, "sgm.p2": 90, "sgm.p2_min": 30}),
    ("banz-sgm", {}),
]


CUTS = [(stripes, k) for stripes in (2, 7) for k in range(4)] + [(1, 0), (50, 2)]  # the test api.stripes compares more


@pytest.mark.parametrize("stripes, method, settings", [(stripes, *SGM[k]) for stripes, k in CUTS], ids=str)
def test_stripes_of_semi_global_matching_are_the_whole(tmp_path, scene, method, settings, stripes):
    pipeline = pipeline_of(method, settings)
    job = jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), pipeline, RANGE, stripes=stripes)
    assert len(job.manifest.of_kind("match")) == stripes
    scale.run_all(job, OPTIONS, quiet=True)
    jobs.assert_same(jobs.merged(job), whole(scene, pipeline))


@pytest.mark.parametrize("method, settings", [("sgm", {}), ("sgm", {"speckle.size": 5, "fill.mode": "background"}), ("zncc", {})])
@pytest.mark.parametrize("with_trust", [False, True])
def test_seeds_come_along(tmp_path, scene, method, settings, with_trust, capfd):
    pipeline = pipeline_of(method, {"seeds.stage": "seeds", **settings})
    rng = np.random.default_rng(1)
    seeds = np.where(rng.random(scene.disparity.shape) < 0.05, scene.disparity, np.nan).astype(np.float32)
    seeds[rng.random(seeds.shape) < 0.01] = 20  # wrong
    given = {"seeds": seeds} | ({"seed_trust": rng.random(seeds.shape).astype(np.float32)} if with_trust else {})
    files = {name: jobs.write_image(tmp_path / f"{name}.tif", map_) for name, map_ in given.items()}
    job = jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), pipeline, RANGE, stripes=5, tile=(60, 50), **files)
    scale.run_all(job, OPTIONS, quiet=True)
    expected = whole(scene, pipeline, **given)
    jobs.assert_same(jobs.merged(job), expected)
    assert "outside the search range" not in capfd.readouterr().err
    assert np.count_nonzero(expected.disparity != whole(scene, pipeline_of(method, settings)).disparity) > 0


def test_seeds_that_have_no_effect_are_told(tmp_path, scene, capfd):
    pipeline, pair = pipeline_of("sgm", {"seeds.stage": "seeds"}), jobs.pair_files(tmp_path, scene)
    far = jobs.write_image(tmp_path / "far.tif", np.full(scene.disparity.shape, 90, np.float32))
    scale.run_all(jobs.planned(tmp_path, pair, pipeline, RANGE, seeds=far), OPTIONS, quiet=True)
    assert "seeds are outside the search range" in capfd.readouterr().err
    with pytest.raises(st.CallError, match="no file has any; give --seeds FILE"):
        jobs.planned(tmp_path, pair, pipeline, RANGE)


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_maps_between_units_are_the_same_however_they_are_kept(tmp_path, scene, compression):
    pipeline = pipeline_of("sgm", {"speckle.size": 5})
    job = jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), pipeline, RANGE, stripes=5, compression=compression)
    scale.run_all(job, OPTIONS, quiet=True)
    with rasters.opened(str(next(job.folder.glob("maps/*.disparity.tif")))) as kept:
        assert (kept.compression is not None) == (compression == "zstd")
    jobs.assert_same(jobs.merged(job), whole(scene, pipeline))


def test_a_compression_that_nobody_has_is_refused(tmp_path, scene):
    with pytest.raises(st.CallError, match="compression='lz4' is not allowed; it must be zstd or none"):
        jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), pipeline_of("sgm", {}), RANGE, compression="lz4")


def test_a_job_of_another_version_is_another_job(tmp_path, scene):
    files = jobs.pair_files(tmp_path, scene)
    job = jobs.planned(tmp_path, files, pipeline_of("sgm", {}), RANGE)
    manifest = job.folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": 4', '"version": 1'))
    with pytest.raises(st.CallError, match="--replace"):
        jobs.planned(tmp_path, files, pipeline_of("sgm", {}), RANGE)


@pytest.mark.parametrize("highest, dtype", [(255, b"u1"), (256, b"<u2")])
def test_path_costs_are_kept_as_narrow_as_they_are(highest, dtype):
    paths = np.arange(highest + 1, dtype=np.uint16).repeat(6).reshape(2, -1, 3)
    columns = Span(40, 40 + paths.shape[1])
    content = packed(paths, "job", 7, columns, -2)
    assert b'"dtype": "%s"' % dtype in content
    found, same = unpacked(content, "file", "job", 7)
    assert found == columns and same.dtype == np.uint16
    np.testing.assert_array_equal(same, paths)


@pytest.mark.parametrize("mode", ["background", "nearest", "second_lowest", "cross"])
@pytest.mark.parametrize("first", [0, 60, 150])
def test_fills_find_what_lies_in_other_stripes(tmp_path, scene, mode, first):
    """80 rows without texture, in which nothing is measured."""
    images = [image.copy() for image in (scene.left, scene.right)]
    for image in images:
        image[first : first + 80] = 90
    pair = tuple(jobs.write_image(tmp_path / f"{k}.tif", image) for k, image in enumerate(images))
    pipeline = pipeline_of("sgm", {"fill.mode": mode, "speckle.size": 5, "select.uniqueness": 20})
    job = jobs.planned(tmp_path, pair, pipeline, RANGE, stripes=8)
    scale.run_all(job, OPTIONS, quiet=True)
    expected = st.match(*images, RANGE, pipeline=pipeline, device="cpu")
    jobs.assert_same(jobs.merged(job), expected)


@pytest.mark.parametrize("paths", [4, 8])
def test_sweeps_in_tiles_of_columns_are_the_whole(tmp_path, scene, paths):
    pipeline = pipeline_of("sgm", {"sgm.paths": paths})
    job = jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), pipeline, RANGE, stripes=12, tile=(40, None))
    assert len(job.manifest.of_kind("down")) == 11 * 4
    if paths == 8:  # a wavefront: a tile waits for its neighbours of the band before
        assert any(len(unit.after) > 1 for unit in job.manifest.of_kind("down"))
    scale.run_all(job, OPTIONS, quiet=True)
    jobs.assert_same(jobs.merged(job), whole(scene, pipeline))


@pytest.mark.parametrize("method", ["census-guided", "zncc", "prehn-window"])
def test_tiles_of_finite_methods_are_the_whole(tmp_path, scene, method):
    pipeline = pipeline_of(method, {})
    job = jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), pipeline, RANGE, tile=(64, 48))
    assert len(job.manifest.of_kind("tile")) == 3 * 5
    assert min(unit.pixels for unit in job.manifest.of_kind("tile")) < scene.left[..., 0].size // 2  # it does not read all
    scale.run_all(job, OPTIONS, quiet=True)
    jobs.assert_same(jobs.merged(job), whole(scene, pipeline))


def test_stripes_are_cut_by_memory(tmp_path, scene):
    pair, pipeline = jobs.pair_files(tmp_path, scene), st.Pipeline("sgm")
    whole_job = jobs.planned(tmp_path, pair, pipeline, RANGE)
    assert len(whole_job.manifest.of_kind("match")) == 1
    largest = max(unit.memory for unit in whole_job.units)
    (tmp_path / "less").mkdir()
    job = jobs.planned(tmp_path / "less", pair, pipeline, RANGE, memory=largest - 1_000_000)
    assert len(job.manifest.of_kind("match")) > 1
    assert all(unit.memory <= largest - 1_000_000 for unit in job.units)
    with pytest.raises(st.CallError, match="the smallest stripe needs .* GiB, but --mem allows"):
        jobs.planned(tmp_path / "least", pair, pipeline, RANGE, memory=1 << 20)


def test_what_can_not_be_exact_is_refused_with_the_reason(tmp_path, scene):
    pair = jobs.pair_files(tmp_path, scene)
    pipeline = pipeline_of("sgm", {"fill.mode": "hirschmueller"})
    with pytest.raises(st.CallError, match="cannot be matched in stripes with the same result as the whole image"):
        jobs.planned(tmp_path, pair, pipeline, RANGE, stripes=3)
    jobs.planned(tmp_path, pair, pipeline, RANGE, collar=32)  # a job with a collar is not exact


def test_confidence_comes_along(tmp_path, scene):
    pipeline = st.Pipeline("sgm")
    job = jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), pipeline, RANGE, stripes=3, confidence=True)
    scale.run_all(job, OPTIONS, quiet=True)
    disparity, validity, confidence = jobs.merged(job)
    expected = whole(scene, pipeline, want="confidence")
    jobs.assert_same((disparity, validity), expected)
    np.testing.assert_array_equal(confidence, expected.confidence)


def test_a_collar_is_audited(tmp_path):
    """Smooth walls carry what paths bring from far; twice the collar tells how much is missing."""
    scene = jobs.synthetic(320, 240, 26)
    flat = [np.where(np.arange(240)[:, None, None] % 80 < 60, 128, image).astype(np.uint8) for image in (scene.left, scene.right)]
    pair = tuple(jobs.write_image(tmp_path / f"{k}.tif", image) for k, image in enumerate(flat))
    shares = []
    for collar in (4, 64):
        (tmp_path / str(collar)).mkdir()
        job = jobs.planned(tmp_path / str(collar), pair, st.Pipeline("sgm"), (0, 32), collar=collar, tile=(80, 80), audit=5)
        scale.run_all(job, OPTIONS, quiet=True)
        audit = scale.Status.of(job).audit
        assert audit["pixels"] >= 5 * 40 * 64
        shares.append(audit["differ"] / audit["pixels"])
    assert shares[0] > shares[1] and shares[0] > 0.01


PLANE = {"width": 250, "height": 230, "vertical_offset": 0.7, "vertical_slope": 0.9}
WAVES = {"width": 400, "height": 300, "vertical_wave": 1, "vertical_period": 200}
ALIGNED = [
    ("sgm", {}, {"stripes": 7}, PLANE, "0.7"),
    ("census-guided", {}, {"tile": (70, 60)}, PLANE, "0.7"),
    ("sgm", {}, {"stripes": 7}, WAVES, r"0.7.* field of 1×\d+ knots"),
]


@pytest.mark.parametrize("method, settings, division, rows, said", ALIGNED, ids=["sgm", "census-guided", "waves"])
def test_all_units_align_rows_as_the_whole_image_does(tmp_path, method, settings, division, rows, said):
    moved = st.synth("table", disparities=26, noise=2, **rows)
    pipeline = pipeline_of(method, settings)
    job = jobs.planned(tmp_path, jobs.pair_files(tmp_path, moved), pipeline, RANGE, **division)
    assert re.match(f"rows aligned: {said}", job.manifest.rows), job.manifest.rows
    scale.run_all(job, OPTIONS, quiet=True)
    aligned = whole(moved, pipeline)
    assert aligned.row_alignment is not None
    jobs.assert_same(jobs.merged(job), aligned)
    as_they_are = jobs.planned(tmp_path / "off", jobs.pair_files(tmp_path, moved), pipeline, RANGE, align_rows="off", **division)
    assert as_they_are.manifest.job != job.manifest.job


def test_each_pair_of_a_list_has_rows_of_its_own(tmp_path):
    scenes = [st.synth("table", width=250, height=230, disparities=26, noise=2, vertical_offset=v) for v in (0.6, -0.8)]
    pairs = []
    for k, one in enumerate(scenes):
        (tmp_path / str(k)).mkdir()
        pairs.append(jobs.pair_files(tmp_path / str(k), one))
    job = scale.plan(tmp_path / "job", scale.Settings(pairs=pairs, pipeline=st.Pipeline("sgm"), disparities=RANGE, device="cpu"))
    scale.run_all(job, OPTIONS, quiet=True)
    maps = scale.merge(job, tmp_path / "maps")
    for k, one in enumerate(scenes):
        expected = whole(one, st.Pipeline("sgm"))
        assert expected.row_alignment is not None
        jobs.assert_same([jobs.read_image(file) for file in maps[2 * k : 2 * k + 2]], expected)
