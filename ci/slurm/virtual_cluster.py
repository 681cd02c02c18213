"""A private Slurm of a few virtual nodes on this machine: its own key, ports and folder, and no service of the system's."""

import ctypes
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")


def missing():
    """The first daemon or command that is not installed; None where all are."""
    return next((name for name in DAEMONS if not shutil.which(name, path=PATH)), None)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def of_process(pid, what):
    """A file of /proc, empty where the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/{what}").read_bytes()
    except OSError:
        return b""


def die_with_the_test():
    """In a daemon before it starts: where the test is killed, so is it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class VirtualCluster:
    def __init__(self, folder, nodes=3):
        self.folder = pathlib.Path(folder)
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        self.conf = self.folder / "slurm.conf"
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(self.conf)}
        self._running = {}
        self._watch = None

    def start(self):
        self._start_watch()
        (self.folder / "munge").mkdir(mode=0o700)
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self._write_configuration()
        # --force: the folder lies in /tmp, which others may write to.
        self._start("munged", "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge/socket",
                    *(f"--{file}-file={self.folder}/munge/{file}" for file in ("pid", "log", "seed")))
        self._wait_for(lambda: (self.folder / "munge" / "socket").exists(), 20, "munged made no socket")
        self._start("slurmctld", "slurmctld", "-D", "-c")
        for node in self.nodes:
            self._start(node, "slurmd", "-D", "-N", node)
        self._wait_for(lambda: self.ask("sinfo", "--noheader", "--format=%D %T") == f"{len(self.nodes)} idle", 60,
                       "the nodes are not idle")

    def _start_watch(self):
        """A process that ends what the jobs left, also where the test is killed: without a controller, what watches a job stays."""
        ends, alive = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setsid()
            os.close(alive)
            os.read(ends, 1)  # nothing comes, and its other end closes
            self._kill_jobs(*self.nodes)
            os._exit(0)
        os.close(ends)
        self._watch = pid, alive

    def _write_configuration(self):
        controller, *ports = free_ports(1 + len(self.nodes))
        host, user = socket.gethostname().partition(".")[0], getpass.getuser()
        nodes = "\n".join(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 State=UNKNOWN"
                          for node, port in zip(self.nodes, ports))
        # JobRequeue=0: only what is submitted with --requeue is requeued.
        # bf_interval: without accounting, of Ubuntu's Slurm 23.11.4 the main scheduler finds every account invalid, and only the
        # backfill scheduler starts jobs, by default every 30 s.
        self.conf.write_text(f"""ClusterName=fusegate
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge/socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool-%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/%n.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/%n.log
ProctrackType=proctrack/pgid
SelectType=select/linear
ReturnToService=2
SlurmdTimeout=4
KillWait=2
JobRequeue=0
SchedulerParameters=bf_interval=1
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""", encoding="utf-8")
        # We use no cgroups, which a container may lack. By default slurmd looks for them; of version 1 it takes none that are not used.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")
        (self.folder / "state").mkdir(mode=0o700)

    def _start(self, name, *arguments):
        with open(self.folder / f"{name}.out", "wb") as out:
            self._running[name] = subprocess.Popen(arguments, env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                                                   stderr=out, start_new_session=True, preexec_fn=die_with_the_test)

    def _wait_for(self, is_so, limit_s, problem):
        end = time.monotonic() + limit_s
        while not is_so():
            if time.monotonic() > end:
                raise TimeoutError(f"{problem}:\n{self.logs()}")
            time.sleep(0.1)

    def ask(self, *arguments):
        """What a command prints, whatever its exit code."""
        return subprocess.run(arguments, env=self.environment, capture_output=True, text=True, timeout=60, check=False).stdout.strip()

    def logs(self):
        return "\n".join(f"{path.name}: {line}" for path in sorted(self.folder.glob("*.[lo][ou][gt]"))
                         for line in path.read_text(errors="replace").splitlines()[-15:])

    def kill_node(self, node):
        """As if its power went: its daemon first, then what watches its jobs, then these."""
        self._running[node].kill()
        self._running[node].wait()
        self._kill_jobs(node)

    def _kill_jobs(self, *nodes):
        jobs = self._jobs(*nodes)
        parents = {int((of_process(job, "stat").rpartition(b")")[2].split() or [0, 0])[1]) for job in jobs}
        steps = {parent for parent in parents if of_process(parent, "comm").startswith(b"slurmstepd")}
        for pid in [*steps, *jobs]:
            kill(pid)

    def _jobs(self, *nodes):
        """Their processes: each has both variables."""
        conf = b"SLURM_CONF=" + str(self.conf).encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            variables = of_process(entry.name, "environ").split(b"\0") if entry.name.isdigit() else []
            if conf in variables and any(b"SLURMD_NODENAME=" + node.encode() in variables for node in nodes):
                found.append(int(entry.name))
        return found

    def stop(self):
        self.ask("scancel", "--quiet", f"--user={getpass.getuser()}")
        for name in [*self.nodes, "slurmctld", "munged"]:
            process = self._running.get(name)
            if process and process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        if self._watch:
            pid, alive = self._watch
            os.close(alive)
            os.waitpid(pid, 0)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
