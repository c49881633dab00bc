# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm cluster of this one machine, in a folder: munged, slurmctld and slurmd, started and taken down by a test."""

import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2,batch_sched_delay=1
ReturnToService=2
KillWait=5
OverTimeLimit=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why a cluster cannot be started here; empty if it can."""
    if os.geteuid() != 0:
        return "slurmctld, slurmd and munged are started as root here"
    absent = [name for name in PROGRAMS if not find(name)]
    return f"{', '.join(absent)} missing: apt-get install slurm-wlm munge" if absent else ""


def find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """Daemons in the foreground, each the leader of a session, so that its children can be ended with it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.daemons = []
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        os.chmod(self.folder, 0o755)  # munged refuses a folder that others may write to
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o600)
        controller_port, node_port = free_ports(2)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20 // 2
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text(CONF.format(folder=self.folder, host=socket.gethostname().split(".")[0], cpus=os.cpu_count(),
                                         memory=memory, controller_port=controller_port, node_port=node_port))
        self.environment = {**os.environ, "SLURM_CONF": str(self.conf)}
        for name in [name for name in self.environment if name.startswith(("SLURM_", "SBATCH_"))]:
            if name != "SLURM_CONF":
                del self.environment[name]

    def start(self):
        """Raises RuntimeError with the daemons' logs if they do not work here."""
        names = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid", "log-file": "munged.log",
                 "seed-file": "munged.seed"}
        self._daemon("munged", "--foreground", "--force", *[f"--{key}={self.folder / name}" for key, name in names.items()])
        self._wait(lambda: (self.folder / "munge.socket").exists(), "munged to listen")
        self._daemon("slurmctld", "-D")
        self._wait(lambda: self.call("scontrol", "ping").returncode == 0, "slurmctld to answer")
        self._daemon("slurmd", "-D")
        self._wait(lambda: self.call("sinfo", "-h", "-o", "%t").stdout.strip() == "idle", "the node to be idle")

    def stop(self):
        """Ends the jobs, then the daemons; processes that do not end are killed."""
        if self.daemons:
            self.call("scancel", "--user=root", "--full")
            self._quietly(lambda: self.call("squeue", "-h").stdout.strip() == "", 15)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(daemon.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            daemon.wait()
        self.daemons = []

    def call(self, program, *words, cwd=None):
        return subprocess.run([find(program), *words], env=self.environment, cwd=cwd, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def tasks(self, job):
        """{array task: state} of the tasks that have not ended."""
        lines = self.call("squeue", "-h", "-r", "-j", str(job), "-o", "%K %T").stdout.splitlines()
        return {int(line.split()[0]): line.split()[1] for line in lines if line.split()[0].isdigit()}

    def logs(self):
        return "\n".join(f"{log.name}:\n{log.read_text()[-3000:]}" for log in sorted(self.folder.glob("*.log")))

    def _daemon(self, name, *words):
        with open(self.folder / f"{name}.out.log", "w") as log:
            self.daemons.append(subprocess.Popen([find(name), *words], env=self.environment, cwd=self.folder, stdout=log,
                                                 stderr=log, stdin=subprocess.DEVNULL, start_new_session=True))

    def _quietly(self, condition, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return True
            time.sleep(0.1)
        return False

    def _wait(self, condition, what):
        if not self._quietly(condition, 30):
            raise RuntimeError(f"waited in vain for {what}\n{self.logs()}")
