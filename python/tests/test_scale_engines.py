"""Engines that every machine with the package has; Slurm and GNU parallel are in python/scale_tests."""

import json
import shutil
import subprocess

import pytest
import stereopsis as st

pytest.importorskip("rasterio", reason="rasterio reads and writes what scale does; ./dev python installs it")

import scale_jobs as jobs  # noqa: E402
from stereopsis import scale  # noqa: E402
from stereopsis.scale import options  # noqa: E402
from stereopsis.scale.engines import local  # noqa: E402

RANGE = (0, 24)


@pytest.fixture(scope="module")
def scene():
    return jobs.synthetic(90, 100, 20)


@pytest.fixture(scope="module")
def whole(scene):
    return st.match(scene.left, scene.right, RANGE, device="cpu")


@pytest.fixture
def job(tmp_path, scene):
    (tmp_path / "a job's").mkdir()
    return jobs.planned(tmp_path / "a job's", jobs.pair_files(tmp_path, scene), st.Pipeline("sgm"), RANGE, stripes=4)


def test_dask_runs_units_behind_those_that_they_wait_for(job, whole):
    pytest.importorskip("distributed", reason="Dask is one of the engines; ./dev python installs it")
    jobs.run("run", job.folder, "--engine", "dask", "--workers", 2, "--quiet")
    jobs.assert_same(jobs.merged(job), whole)


def test_make_runs_what_is_emitted(job, whole, tmp_path):
    if shutil.which("make") is None:
        pytest.skip("there is no make on this machine")
    (tmp_path / "job.mk").write_text(jobs.run("plan", job.folder, "--emit", "make"))
    done = subprocess.run(["make", "-j2", "-f", tmp_path / "job.mk"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    jobs.assert_same(jobs.merged(job), whole)
    again = subprocess.run(["make", "-f", tmp_path / "job.mk"], capture_output=True, text=True)
    assert "Nothing to be done" in again.stdout, again.stdout


def devices_used(job):
    return {job.store.about(unit.name)["device"] for unit in job.units}


def run_on(job, devices):
    local.run(job, list(job.units), options.Options(device=devices, retries=0), lambda unit: None)


def test_units_are_distributed_to_the_devices(job, whole):
    run_on(job, "cpu,auto")
    jobs.assert_same(jobs.merged(job), whole)
    assert devices_used(job) <= {"cpu", "auto"}


def test_the_units_of_a_lost_device_are_computed_by_the_others(job, whole, monkeypatch, capfd):
    monkeypatch.setattr(local, "run_unit", jobs.unit_on_lost_device)
    run_on(job, "cpu,auto")
    jobs.assert_same(jobs.merged(job), whole)
    assert devices_used(job) == {"cpu"}
    assert "auto was lost; cpu will compute its units: the device of a test was lost" in capfd.readouterr().err
    monkeypatch.setattr(local, "run_unit", jobs.unit_without_device)
    with pytest.raises(st.DeviceError, match="was lost"):
        run_on(job, "cpu,auto")


def test_a_list_of_devices_has_all_usable_ones(monkeypatch):
    class Device:
        def __init__(self, name, usable):
            self.name, self.usable = name, usable

    monkeypatch.setattr(options, "known_devices", lambda: [Device("cpu", True), Device("cuda:0", True), Device("cuda:1", False), Device("cuda:2", True)])
    assert options.devices_of("cuda:*,cpu") == ["cuda:0", "cuda:2", "cpu"]
    with pytest.raises(st.CallError, match="no usable device opencl"):
        options.devices_of("opencl:*")


@pytest.mark.parametrize("how", [("--unit", 0), ("--shard", "1/2"), ("--engine", "parallel")])
def test_several_devices_are_rejected_where_units_run_on_one(job, how):
    assert "--device cpu,auto names several devices" in jobs.run("run", job.folder, "--device", "cpu,auto", *how, expected=2)


def test_a_list_has_every_unit_behind_what_it_needs(job):
    lines = jobs.run("plan", job.folder, "--emit", "list").splitlines()
    assert len(lines) == len(job.units)
    for line, unit in zip(lines, job.units, strict=True):
        assert f"--unit {unit.number}  # {unit.name}, " in line and " MiB" in line
        assert all(before < unit.number for before in unit.after)


def test_shards_wait_for_one_another(job, whole):
    shards = [jobs.start("run", job.folder, "--shard", f"{i}/3", "--patience", 60, "--quiet") for i in (1, 2, 3)]
    for process in shards:
        out, err = process.communicate(timeout=90)
        assert process.returncode == 0, out + err
    jobs.assert_same(jobs.merged(job), whole)


def test_a_shard_that_waits_in_vain_says_for_what(job):
    said = jobs.run("run", job.folder, "--shard", "2/2", "--patience", 0.5, "--quiet", expected=1)
    assert "which no other shard has computed" in said


def test_slurm_s_script_has_an_array_for_each_level_with_its_memory(job):
    script = jobs.run("plan", job.folder, "--emit", "slurm")
    levels = job.manifest.levels()
    assert script.count("sbatch --parsable") == len(levels) and script.count("--dependency=afterok:$array") == len(levels) - 1
    for level in levels:
        assert f"--array=0-{len(level) - 1}" in script or len(level) == 1
        assert f"--mem={-(-max(unit.memory for unit in level) // 2**20)}M" in script


def test_the_manifest_says_all_that_a_worker_needs(job):
    manifest = json.loads((job.folder / "manifest.json").read_text())
    assert manifest["format"] == "stereopsis scale" and manifest["version"] == 4
    assert st.Pipeline.from_json(json.dumps(manifest["pipeline"])) == st.Pipeline("sgm")
    left, right = manifest["inputs"][0]
    assert left["picture"]["width"] == 90 and set(right["fingerprint"]) == {"bytes", "modified", "samples"}
    for unit in manifest["units"]:
        assert unit["disparities"] == [0, 24] and unit["memory"] > 2**20
    (job.folder / "manifest.json").write_text(json.dumps(manifest | {"made_by": "0.0.0"}))
    with pytest.raises(st.CallError, match="planned by stereopsis 0.0.0"):
        scale.Job.open(job.folder)
    (job.folder / "manifest.json").write_text("{}")
    with pytest.raises(st.FormatError, match="is not a manifest of version 4"):
        scale.Job.open(job.folder)


def test_missing_units_are_named(job):
    assert "--unit 99 is not allowed; the job has the units 0 to" in jobs.run("run", job.folder, "--unit", 99, expected=2)
    assert "units are missing or damaged" in jobs.run("merge", job.folder, "-o", job.folder / "d.tif", expected=1)
