"""Tests of input and output: types, masks, mosaics, many pairs."""

import json
from pathlib import Path

import numpy as np
import pytest
import stereopsis as st

rasterio = pytest.importorskip("rasterio", reason="rasterio reads and writes what scale does; ./dev python installs it")

import scale_jobs as jobs  # noqa: E402
from stereopsis import scale  # noqa: E402

RANGE = (0, 32)
pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")


@pytest.fixture(scope="module")
def scene():
    return jobs.synthetic(140, 160, 26)


def done(folder, pair, pipeline=None, disparities=RANGE, **settings):
    job = jobs.planned(folder, pair, pipeline or st.Pipeline("census-guided"), disparities, **settings)
    scale.run_all(job, scale.Options(), quiet=True)
    return job


def grey(image):
    return np.ascontiguousarray(image[..., 1])


TILED = {"tiled": True, "blockxsize": 64, "blockysize": 64}


@pytest.mark.parametrize("how", [{"driver": "PNG"}, {**TILED, "bigtiff": "yes"}], ids=["png", "bigtiff"])
@pytest.mark.parametrize("bits", [8, 16])
def test_files_of_8_and_16_bits(tmp_path, scene, how, bits):
    images = [grey(image) if bits == 8 else grey(image).astype(np.uint16) * 16 for image in (scene.left, scene.right)]
    pair = tuple(jobs.write_image(tmp_path / f"{k}.img", image, **how) for k, image in enumerate(images))
    depth = 0 if bits == 8 else 12
    job = done(tmp_path, pair, tile=(64, 64), bit_depth=depth)
    jobs.assert_same(jobs.merged(job), st.match(*images, RANGE, "census-guided", "cpu", bit_depth=depth))


def write_pgm(path, image, maxval):
    path.write_bytes(f"P5\n# made by hand\n{image.shape[1]} {image.shape[0]}\n{maxval}\n".encode() + image.astype(">u2").tobytes())
    return str(path)


def test_pgm_says_how_many_bits_it_has(tmp_path, scene):
    images = [grey(image).astype(np.uint16) * 16 for image in (scene.left, scene.right)]
    pair = tuple(write_pgm(tmp_path / f"{k}.pgm", image, 4095) for k, image in enumerate(images))
    job = done(tmp_path, pair, tile=(64, 64))
    jobs.assert_same(jobs.merged(job), st.match(*images, RANGE, "census-guided", "cpu", bit_depth=12))
    stretched = tuple(write_pgm(tmp_path / f"{k}.pgm", image, 5000) for k, image in enumerate(images))
    with pytest.raises(st.CallError, match="values up to 5000"):
        jobs.planned(tmp_path, stretched, st.Pipeline("census-guided"), RANGE)


@pytest.mark.parametrize("hash_", ["quick", "full"])
def test_zarr_is_read_and_known_again(tmp_path, scene, hash_):
    with rasterio.Env() as environment:
        if "Zarr" not in environment.drivers():
            pytest.skip("this GDAL has no Zarr")
    images = grey(scene.left), grey(scene.right)
    pair = tuple(jobs.write_image(tmp_path / f"{k}.zarr", image, driver="Zarr", BLOCKSIZE="64,64") for k, image in enumerate(images))
    job = done(tmp_path, pair, tile=(64, 64), full_hash=hash_ == "full")
    jobs.assert_same(jobs.merged(job), st.match(*images, RANGE, "census-guided", "cpu"))
    chunk = max((path for path in Path(pair[1]).rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    chunk.write_bytes(chunk.read_bytes()[::-1])
    (job.folder / "done/tile-0000-0000.json").unlink()
    with pytest.raises(st.FileError, match="has changed since the job was planned"):
        scale.run_all(job, scale.Options(), quiet=True)


def test_no_data_is_masked(tmp_path, scene):
    images = [np.maximum(grey(image), 1) for image in (scene.left, scene.right)]
    images[0][40:60, 30:90] = 0
    pair = tuple(jobs.write_image(tmp_path / f"{k}.tif", image, nodata=0) for k, image in enumerate(images))
    job = done(tmp_path, pair, st.Pipeline("sgm"), stripes=4)
    expected = st.match(*images, RANGE, device="cpu", mask_left=(images[0] != 0), mask_right=(images[1] != 0))
    jobs.assert_same(jobs.merged(job), expected)
    assert (expected.validity[45:55, 40:80] & st.validity.masked).all()


def test_negative_ranges(tmp_path, scene):
    pair = jobs.pair_files(tmp_path, scene)[::-1]  # the right image in the left one's place
    job = done(tmp_path, pair, st.Pipeline("sgm"), (-30, 2), stripes=3, tile=(64, None))
    jobs.assert_same(jobs.merged(job), st.match(scene.right, scene.left, (-30, 2), device="cpu"))


def test_mosaics_are_read_as_one_image(tmp_path, scene):
    """A VRT of two files, one above the other."""
    for side in ("left", "right"):
        image = grey(getattr(scene, side))
        sources = ""
        for k, rows in enumerate((slice(0, 80), slice(80, 160))):
            jobs.write_image(tmp_path / f"{side}{k}.tif", np.ascontiguousarray(image[rows]))
            sources += (
                f'<SimpleSource><SourceFilename relativeToVRT="1">{side}{k}.tif</SourceFilename><SourceBand>1</SourceBand>'
                f'<SrcRect xOff="0" yOff="0" xSize="140" ySize="80"/>'
                f'<DstRect xOff="0" yOff="{80 * k}" xSize="140" ySize="80"/></SimpleSource>'
            )
        band = f'<VRTRasterBand dataType="Byte" band="1">{sources}</VRTRasterBand>'
        (tmp_path / f"{side}.vrt").write_text(f'<VRTDataset rasterXSize="140" rasterYSize="160">{band}</VRTDataset>')
    job = done(tmp_path, (str(tmp_path / "left.vrt"), str(tmp_path / "right.vrt")), tile=(64, 64))
    jobs.assert_same(jobs.merged(job), st.match(grey(scene.left), grey(scene.right), RANGE, "census-guided", "cpu"))
    jobs.write_image(tmp_path / "left1.tif", np.ascontiguousarray(grey(scene.right)[80:]))
    (job.folder / "done/tile-0000-0000.json").unlink()
    with pytest.raises(st.FileError, match="left.vrt has changed since the job was planned"):
        scale.run_all(job, scale.Options(), quiet=True)


@pytest.mark.parametrize("cog", [False, True])
def test_what_is_merged_is_a_tiled_geotiff(tmp_path, cog):
    scene = jobs.synthetic(700, 530, 26)
    transform = rasterio.transform.from_origin(500000, 5400000, 0.5, 0.5)
    pair = jobs.pair_files(tmp_path, scene, crs="EPSG:32632", transform=transform)
    job = done(tmp_path, pair, st.Pipeline("prehn-window"), tile=(256, 256))
    files = scale.merge(job, tmp_path / "d.tif", cog)
    assert [file.name for file in files] == ["d.tif", "d.validity.tif"]
    with rasterio.open(files[0]) as made:
        assert made.dtypes == ("float32",) and np.isnan(made.nodata) and made.profile["tiled"]
        assert made.compression.name == "deflate" and made.crs.to_epsg() == 32632 and made.transform == transform
        assert made.tags(ns="IMAGE_STRUCTURE").get("PREDICTOR") == "3"
        assert (made.tags(ns="IMAGE_STRUCTURE").get("LAYOUT") == "COG") == cog
    jobs.assert_same([jobs.read_image(file) for file in files], st.match(scene.left, scene.right, RANGE, "prehn-window", "cpu"))


def test_measured_pixels_alone_are_merged_on_request(tmp_path, scene):
    job = done(tmp_path, jobs.pair_files(tmp_path, scene), st.Pipeline("sgm"))
    jobs.run("merge", job.folder, "-o", tmp_path / "d.tif", "--measured-only")
    whole = st.match(scene.left, scene.right, RANGE, "sgm", "cpu")
    assert whole.filled.any()
    np.testing.assert_array_equal(jobs.read_image(tmp_path / "d.tif"), whole.measured_disparity)
    np.testing.assert_array_equal(jobs.read_image(tmp_path / "d.validity.tif"), whole.validity)


def test_seeds_that_do_not_fit_are_refused(tmp_path, scene):
    pair = jobs.pair_files(tmp_path, scene)
    small = jobs.write_image(tmp_path / "small.tif", np.zeros((5, 6), np.float32))
    coloured = jobs.write_image(tmp_path / "coloured.tif", np.zeros((*scene.disparity.shape, 3), np.float32))
    for file in small, coloured, pair[0]:
        said = jobs.run("plan", tmp_path / "job", *pair, "--disparities", 24, "--seeds", file, expected=2)
        assert "it must have" in said and "of the type float32 with one channel" in said
    assert "--seed-trust requires --seeds" in jobs.run("plan", tmp_path / "job", *pair, "--disparities", 24, "--seed-trust", small, expected=2)


def test_ranges_from_a_coarse_pass(tmp_path):
    scene = jobs.synthetic(320, 240, 40)
    job = done(tmp_path, jobs.pair_files(tmp_path, scene), disparities=None, coarse=4, tile=(80, 80))
    ranges = {unit.disparities for unit in job.units}
    assert len(ranges) > 1, "every tile has the same range"
    disparity, _ = jobs.merged(job)
    error = abs(disparity - scene.disparity)
    assert np.nanmedian(error) < 1 and np.isfinite(disparity).mean() > 0.5


def test_a_pair_that_seems_wrong_is_told(tmp_path, scene):
    files = jobs.write_image(tmp_path / "l.tif", scene.right), jobs.write_image(tmp_path / "r.tif", scene.left)
    jobs.run("plan", tmp_path / "job", *files, "--disparities", 24, "--device", "cpu", "--stripes", 1)
    assert "swapped" in jobs.run("run", tmp_path / "job")
    assert "a pair seems wrong in 1 of the units: the images seem to be swapped" in jobs.run("status", tmp_path / "job")


def test_many_pairs_of_a_list(tmp_path):
    expected = {}
    lines = ["# left, right"]
    for k in range(3):
        scene = jobs.synthetic(96 + 8 * k, 80, 20, seed=k)
        jobs.write_image(tmp_path / f"l{k}.tif", scene.left), jobs.write_image(tmp_path / f"r{k}.tif", scene.right)
        lines.append(f"l{k}.tif, r{k}.tif")
        expected[f"l{k}"] = st.match(scene.left, scene.right, 24, device="cpu")
    (tmp_path / "pairs.txt").write_text("\n".join(lines))
    jobs.run("plan", tmp_path / "job", "--pairs", tmp_path / "pairs.txt", "--disparities", 24, "--device", "cpu")
    jobs.run("run", tmp_path / "job")
    jobs.run("merge", tmp_path / "job", "-o", tmp_path / "out")
    for name, result in expected.items():
        jobs.assert_same([jobs.read_image(tmp_path / "out" / f"{name}{more}.tif") for more in ("", ".validity")], result)
    patterns = tmp_path / "l*.tif", tmp_path / "r*.tif"
    jobs.run("plan", tmp_path / "again", *patterns, "--disparities", 24)
    assert len(json.loads((tmp_path / "again" / "manifest.json").read_text())["units"]) == 3


def test_inputs_that_changed_are_refused(tmp_path, scene):
    pair = jobs.pair_files(tmp_path, scene)
    job = jobs.planned(tmp_path, pair, st.Pipeline("sgm"), RANGE, stripes=3)
    jobs.write_image(pair[1], scene.left)
    with pytest.raises(st.FileError, match=r"unit 0 \(down-0000-0000\): .*right.tif has changed since the job was planned"):
        scale.run_all(job, scale.Options(), quiet=True)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--disparities", 0], "--disparities 0 is not allowed"),
        ([], "the search range is not known"),
        (["--disparities", 9, "--mem", "4 loads"], "--mem 4 loads is not allowed"),
        (["--disparities", 9, "--stripes", 999], "--stripes 999 is not allowed"),
        (["--disparities", 9, "--audit", 2], "--audit applies to --collar"),
        (["--disparities", 9, "--tile", "0x3"], "--tile 0x3 is not allowed"),
    ],
)
def test_what_is_wrong_with_a_call_is_told(tmp_path, scene, words, sentence):
    pair = jobs.pair_files(tmp_path, scene)
    assert sentence in jobs.run("plan", tmp_path / "job", *pair, *words, expected=2)
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["run", "JOB", "--disparities", 9], "scale run has no option '--disparities'"),
        (["merge", "JOB", "-o", "x.tif", "--confidence"], "scale merge has no option '--confidence'"),
        (["merge", "JOB"], "the following arguments are required: -o/--output"),
        (["run", "JOB", "--ssh", "a,b"], "--ssh applies to --engine dask, and the engine is local"),
        (["plan", "JOB", "--disparities", 9], "--disparities applies to a new job, which needs images"),
        (["plan", "JOB", "PAIR", "--min-disparity", -9], "give both, or neither"),
    ],
)
def test_options_of_another_action_are_rejected(tmp_path, scene, words, sentence):
    pair = jobs.pair_files(tmp_path, scene)
    jobs.planned(tmp_path, pair, st.Pipeline("sgm"), RANGE, stripes=3)
    given = [part for word in words for part in ({"JOB": [tmp_path / "job"], "PAIR": pair}.get(word, [word]))]
    assert sentence in jobs.run(*given, expected=2)


def test_images_are_paired_by_number(tmp_path, scene):
    for k in (1, 2, 3):
        jobs.write_image(tmp_path / f"l{k}.tif", scene.left), jobs.write_image(tmp_path / f"r{k + 1}.tif", scene.right)
    said = jobs.run("plan", tmp_path / "job", tmp_path / "l*.tif", tmp_path / "r*.tif", "--disparities", 24, expected=2)
    assert "l1.tif has no partner in" in said and "frame number" in said


def test_what_is_merged_is_no_input(tmp_path, scene):
    pair = jobs.pair_files(tmp_path, scene)
    job = done(tmp_path, pair, tile=(80, 80))
    before = Path(pair[0]).read_bytes()
    with pytest.raises(st.CallError, match="left.tif is also an input image of the job, which is an input"):
        scale.merge(job, Path(pair[0]))
    assert Path(pair[0]).read_bytes() == before


def test_palettes_are_refused(tmp_path, scene):
    pair = jobs.pair_files(tmp_path, scene)
    with rasterio.open(tmp_path / "p.png", "w", driver="PNG", width=140, height=160, count=1, dtype="uint8") as made:
        made.write(grey(scene.left), 1)
        made.write_colormap(1, {k: (255 - k, k, k, 255) for k in range(256)})
    with pytest.raises(st.CallError, match="p.png has a palette"):
        jobs.planned(tmp_path, (str(tmp_path / "p.png"), pair[1]), st.Pipeline("sgm"), RANGE)


def test_coordinates_without_a_reference_system_are_kept(tmp_path, scene):
    place = rasterio.transform.from_origin(500, 700, 0.5, 0.5)
    job = done(tmp_path, jobs.pair_files(tmp_path, scene, transform=place), tile=(80, 80))
    with rasterio.open(scale.merge(job, tmp_path / "out.tif")[0]) as merged:
        assert merged.transform == place


def test_a_folder_keeps_its_job(tmp_path, scene):
    pair = jobs.pair_files(tmp_path, scene)
    jobs.planned(tmp_path, pair, st.Pipeline("sgm"), RANGE, stripes=3)
    jobs.planned(tmp_path, pair, st.Pipeline("sgm"), RANGE, stripes=3)  # the same
    with pytest.raises(st.CallError, match="has another job"):
        jobs.planned(tmp_path, pair, st.Pipeline("sgm"), RANGE, stripes=4)
