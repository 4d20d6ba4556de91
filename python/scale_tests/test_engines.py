"""A job through Slurm's arrays, GNU parallel, and a Dask scheduler that is killed and started again."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import stereopsis as st
from machine import free_ports, installed
from stereopsis import scale

import scale_jobs as jobs

RANGE = (0, 24)


@pytest.fixture(scope="module")
def scene():
    return jobs.synthetic(120, 200, 20)


@pytest.fixture(scope="module")
def whole(scene):
    return st.match(scene.left, scene.right, RANGE, device="cpu")


@pytest.fixture
def planned(tmp_path, scene):
    def plan(**how):
        return jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), st.Pipeline("sgm"), RANGE, **how)

    return plan


def said_by(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_slurm_runs_arrays_to_the_end(slurm, planned, whole):
    job = planned(stripes=3)
    said = jobs.run("run", job.folder, "--engine", "slurm", "--threads", 1, "--wait")
    arrays = re.search(r"Slurm has the arrays ([\d, ]+);", said)[1].split(", ")
    assert len(arrays) == len(job.manifest.levels())
    jobs.assert_same(jobs.merged(job), whole)
    assert len(list((job.folder / "log").iterdir())) == len(job.units)


def test_a_task_that_is_requeued_is_done(slurm, tmp_path):
    scene = jobs.synthetic(1600, 1000, 64)
    job = jobs.planned(tmp_path, jobs.pair_files(tmp_path, scene), st.Pipeline("sgm"), (0, 64), collar=32, tile=(800, 1000))
    said = jobs.run("run", job.folder, "--engine", "slurm", "--threads", 1, "--workers", 1)
    array = re.search(r"Slurm has the arrays (\d+);", said)[1]
    task = f"{array}_0"
    await_(lambda: said_by("squeue", "-h", "-t", "R", "-r", "-o", "%i", f"--jobs={task}"))
    subprocess.run(["scontrol", "requeue", task], check=True)
    assert "Restarts=1" in said_by("scontrol", "show", "job", task)
    await_(lambda: scale.Status.of(job).share == 1)
    assert "Restarts=1" in said_by("scontrol", "show", "job", task)
    scale.merge(job, job.folder / "merged.tif")


def await_(true, seconds=90):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, said_by("scontrol", "show", "job")
        time.sleep(0.05)


def test_what_slurm_refuses_is_told(slurm, planned):
    job = planned(stripes=2)
    said = jobs.run("run", job.folder, "--engine", "slurm", "--sbatch=--partition=none", expected=1)
    assert "sbatch failed: " in said and "partition" in said


def test_gnu_parallel_runs_levels(planned, whole):
    installed("parallel")
    job = planned(stripes=3)
    jobs.run("run", job.folder, "--engine", "parallel", "--workers", 2, "--quiet")
    jobs.assert_same(jobs.merged(job), whole)


def test_gnu_parallel_runs_what_is_emitted(planned, whole, tmp_path):
    installed("parallel")
    job = planned(stripes=2)
    (tmp_path / "job.sh").write_text(jobs.run("plan", job.folder, "--emit", "parallel"))
    subprocess.run(["sh", tmp_path / "job.sh"], check=True, env={**os.environ, "JOBS": "2"})
    jobs.assert_same(jobs.merged(job), whole)


class DaskCluster:
    """A scheduler at a fixed address, and workers, as a service keeps them: what is killed is started again."""

    def __init__(self, folder):
        self.address = f"tcp://127.0.0.1:{free_ports(1)[0]}"
        self._log = open(folder / "dask.log", "w")
        self.start()

    def _program(self, *words):
        code = "import sys; from distributed.cli import {0}; sys.exit({0}.main())".format(words[0])
        return subprocess.Popen([sys.executable, "-c", code, *words[1:]], stdout=self._log, stderr=self._log, start_new_session=True)

    def start(self):
        port = self.address.rpartition(":")[2]
        self._scheduler = self._program("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        self._workers = [self._program("dask_worker", self.address, "--nthreads", "1", "--no-dashboard") for _ in range(2)]

    def kill(self):
        for process in (self._scheduler, *self._workers):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self):
        self.kill()
        self._log.close()


def test_a_dask_scheduler_that_is_killed_is_found_again(planned, whole, tmp_path):
    job = planned(stripes=40, tile=(60, None))
    cluster = DaskCluster(tmp_path)
    try:
        process = jobs.start("run", job.folder, "--engine", "dask", "--scheduler", cluster.address, "--quiet")
        end = time.monotonic() + 60
        while len(jobs.made_at(job)) < 20:
            assert time.monotonic() < end and process.poll() is None, process.communicate()
            time.sleep(0.05)
        cluster.kill()
        before = jobs.made_at(job)
        assert len(before) < len(job.units)
        cluster.start()
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, out + err
    finally:
        cluster.close()
    after = jobs.made_at(job)
    assert all(after[name] == made for name, made in before.items())
    jobs.assert_same(jobs.merged(job), whole)


def test_dask_starts_workers_by_ssh(planned, whole, tmp_path):
    pytest.importorskip("asyncssh", reason="Dask reaches hosts by asyncssh; ./dev python installs it")
    job, home = planned(stripes=3), tmp_path / "home"
    home.mkdir()
    words = [sys.executable, Path(__file__).with_name("ssh_server.py"), home, str(free_ports(1)[0])]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert server.stdout.readline() == "ready\n"
        hosts = "127.0.0.1,127.0.0.1"  # the scheduler, and a worker
        jobs.run("run", job.folder, "--engine", "dask", "--ssh", hosts, "--quiet", env={**os.environ, "HOME": str(home)})
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.communicate()
    jobs.assert_same(jobs.merged(job), whole)
