"""Real engines on this machine: Slurm of the distribution, as one node, with a configuration of its own."""

import os
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from machine import free_ports, installed

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

CONFIGURATION = """
ClusterName=stereopsis
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=1
KillWait=2
MinJobAge=300
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """Commands of Slurm find this cluster by the environment."""
    installed("munged", "slurmctld", "slurmd", "sbatch", "squeue")
    folder = tmp_path_factory.mktemp("slurm")
    folder.chmod(0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    memory = int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20 * 0.8)
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    text = CONFIGURATION.format(
        host=socket.gethostname().split(".")[0], ports=free_ports(2), user=user, folder=folder, cpus=os.cpu_count(), memory=memory
    )
    (folder / "slurm.conf").write_text(text)
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    munge = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket", f"--pid-file={folder}/munge.pid",
             f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed"]  # fmt: skip
    log = open(folder / "said.log", "w")
    running = [subprocess.Popen(words, stdout=log, stderr=log) for words in (munge, ["slurmctld", "-D"], ["slurmd", "-D"])]
    try:
        _await_idle(folder)
        yield folder
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(timeout=30)
        log.close()


def _await_idle(folder):
    end = time.monotonic() + 60
    while "idle" not in (said := subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True).stdout):
        if time.monotonic() > end:
            logs = "\n".join(file.read_text()[-2000:] for file in folder.glob("*.log"))
            raise RuntimeError(f"Slurm does not start: {said}\n{logs}")
        time.sleep(0.5)
