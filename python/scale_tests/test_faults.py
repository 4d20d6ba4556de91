"""Whatever is killed, full or damaged: the result has the same bits, and nothing is made again that was whole."""

import json
import random
import resource
import shutil
import time
from pathlib import Path

import pytest
import stereopsis as st

pytest.importorskip("rasterio", reason="rasterio reads and writes what scale does; ./dev python installs it")

import scale_jobs as jobs  # noqa: E402
from stereopsis import scale  # noqa: E402

RANGE = (0, 24)
STRIPES = 60


@pytest.fixture(scope="module")
def scene():
    return jobs.synthetic(90, 600, 20)


@pytest.fixture(scope="module")
def whole(scene):
    return st.match(scene.left, scene.right, RANGE, device="cpu")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, scene):
    """A job of some hundred units, all of them made."""
    folder = tmp_path_factory.mktemp("finished")
    job = jobs.planned(folder, jobs.pair_files(folder, scene), st.Pipeline("sgm"), RANGE, stripes=STRIPES, tile=(45, None))
    assert 250 < len(job.units) < 600
    scale.run_all(job, scale.Options(), quiet=True)
    return job


@pytest.fixture
def job(tmp_path, scene):
    """Returns a job of which no unit is made."""
    return jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), st.Pipeline("sgm"), RANGE, stripes=STRIPES, tile=(45, None))


@pytest.fixture
def copy(tmp_path, finished):
    """Returns a copy of the finished job, which tests may damage."""
    shutil.copytree(finished.folder, tmp_path / "job")
    return scale.Job.open(tmp_path / "job")


def children(process):
    try:
        return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except OSError:
        return []


def made_anew(job, before):
    after = jobs.made_at(job)
    return {name for name, time_ in before.items() if after.get(name) != time_}


def test_workers_that_are_killed_are_replaced(job, whole):
    import os
    import signal

    choose = random.Random(5)
    process = jobs.start("run", job.folder, "--workers", 2, "--quiet")
    before, kills = {}, 0
    while process.poll() is None and kills < 4:
        time.sleep(0.02)
        made = jobs.made_at(job)
        if len(made) < 40 * (kills + 1):  # each time behind some more work
            continue
        before |= {name: when for name, when in made.items() if name not in before}
        for pid in choose.sample(children(process), min(1, len(children(process)))):
            os.kill(pid, signal.SIGKILL)
            kills += 1
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    assert kills >= 2, "the run had ended before its workers were killed"
    assert not made_anew(job, before)
    jobs.assert_same(jobs.merged(job), whole)


def test_a_run_that_is_killed_goes_on(job, whole):
    before = {}
    for _ in range(3):
        process = jobs.start("run", job.folder, "--quiet")
        had = len(before)
        while process.poll() is None and len(jobs.made_at(job)) < had + 40:
            time.sleep(0.02)
        jobs.kill(process)
        before |= {name: made for name, made in jobs.made_at(job).items() if name not in before}
        assert had < len(before) < len(job.units)
    jobs.run("run", job.folder, "--quiet")
    assert not made_anew(job, before)
    jobs.assert_same(jobs.merged(job), whole)


def test_a_full_disk_loses_nothing(job, finished, whole):
    sizes = sorted(file.stat().st_size for folder in ("paths", "maps") for file in (finished.folder / folder).iterdir())

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[len(sizes) * 9 // 10],) * 2)

    said = jobs.run("run", job.folder, "--quiet", expected=1, preexec_fn=little_room)
    assert "cannot be written: File too large; free space, and run again" in said
    before = jobs.made_at(job)
    assert 0 < len(before) < len(job.units)
    assert not list(job.folder.glob("*/.*")), "a part of a file is left"
    assert not scale.Status.of(job, contents=True).damaged
    jobs.run("run", job.folder, "--quiet")
    assert not made_anew(job, before)
    jobs.assert_same(jobs.merged(job), whole)


def test_damaged_path_costs_are_found_and_made_again(copy, whole):
    match = copy.manifest.of_kind("match")[20]
    state = next(copy.units[i] for i in match.after if copy.units[i].kind == "down")
    file = copy.store.path(f"paths/{state.name}.paths")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    copy.store.sidecar(match.name).unlink()
    assert [unit.name for unit in scale.Status.of(copy, contents=True).damaged] == [state.name]
    before = jobs.made_at(copy)
    jobs.run("run", copy.folder, "--unit", match.number)
    assert made_anew(copy, before) == {state.name}
    assert match.name in jobs.made_at(copy)
    jobs.assert_same(jobs.merged(copy), whole)


@pytest.mark.parametrize("damage", ["truncated", "deleted", "of another job"])
def test_a_damaged_map_is_found_and_made_again(copy, whole, damage):
    unit = copy.manifest.of_kind(copy.manifest.final_kind)[0]
    file = copy.store.path(f"maps/{unit.name}.disparity.tif")
    if damage == "truncated":
        file.write_bytes(file.read_bytes()[:-20])
    elif damage == "deleted":
        file.unlink()
    else:
        about = json.loads(copy.store.sidecar(unit.name).read_text())
        copy.store.sidecar(unit.name).write_text(json.dumps(about | {"job": "0" * 64}))
    said = jobs.run("merge", copy.folder, "-o", copy.folder / "out.tif", expected=1)
    assert f"1 of {len(copy.units)} units are missing or damaged, unit {unit.number} ({unit.name})" in said
    before = jobs.made_at(copy)
    jobs.run("run", copy.folder, "--quiet")
    assert made_anew(copy, before) <= {unit.name} and unit.name in jobs.made_at(copy)
    jobs.assert_same(jobs.merged(copy), whole)


def test_path_costs_of_another_job_are_refused(copy):
    """Whatever the sidecar says of them, they know themselves where they belong."""
    from stereopsis.scale.states import unpacked

    first, second = (unit for unit in copy.manifest.of_kind("down")[:4:2])
    content = copy.store.path(f"paths/{first.name}.paths").read_bytes()
    with pytest.raises(st.FormatError, match="another job, row or version"):
        unpacked(content, "this file", copy.manifest.job, second.rows.end)
    with pytest.raises(st.FormatError, match="another job, row or version"):
        unpacked(content, "this file", "0" * 64, first.rows.end)
    with pytest.raises(st.FormatError, match="not a file of path costs"):
        unpacked(b"x" * 100, "this file", copy.manifest.job, first.rows.end)


def test_two_runs_of_one_unit_at_once_do_no_harm(copy, whole):
    unit = copy.manifest.of_kind("match")[30]
    copy.store.sidecar(unit.name).unlink()
    both = [jobs.start("run", copy.folder, "--unit", unit.number) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, out + err
    assert not scale.Status.of(copy, contents=True).damaged
    jobs.assert_same(jobs.merged(copy), whole)


def test_a_finished_job_has_nothing_to_do(copy):
    before = jobs.made_at(copy)
    assert "all is there, and whole" in jobs.run("run", copy.folder)
    assert not made_anew(copy, before)
    status = json.loads(jobs.run("status", copy.folder, "--json"))
    assert status["done"] and status["share"] == 1 and not status["damaged"]
