"""`python -m tests.security.attacked_worker FOLDER`: a worker, attacked by its own tasks.

It is started through the container's entrypoint, and starts the worker as `python -m
switchyard_worker` does,
on state and a queue in memory. `FOLDER/attacks.json` names the attacks; one after the other is
submitted as tasks of one tenant, while a task of another tenant runs beside them. What was observed
of each is written to `FOLDER/observed.json`. Standard output is the worker's log.
"""

import asyncio
import json
import os
import signal
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import psutil

from switchyard.adapters.system import system_sleep
from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks.task import Payload, Task
from switchyard.settings import WorkerSettings
from switchyard_worker.__main__ import main as main_of_worker
from switchyard_worker.boundary import AGENT_USERS
from switchyard_worker.parent.claude import access as claude_access
from switchyard_worker.parent.files.users import slot_users
from switchyard_worker.parent.supervision import supervisor as supervision
from tests.builders import a_definition, a_task
from tests.security import planted_secrets
from tests.security.attack import Attack, slug
from tests.security.attacks import attack_named
from tests.security.observed import Observed, loot
from tests.security.pauses import LoopPauses, control
from tests.security.victim import VICTIM
from tests.worker.harness import WorkerHarness

ATTACKER, VICTIM_TENANT = "mallory", "acme"
JOBS: Final = {
    ATTACKER: "job-00000000-0000-4000-8000-0000000000aa",
    VICTIM_TENANT: "job-00000000-0000-4000-8000-0000000000bb",
}
OFFLINE: Final = {"backend": "offline"}
SETTLE_SECONDS: Final = 0.4
"""The proxy reports four times a second."""
LIMIT_SECONDS: Final = 90.0


class AttackedWorker(WorkerHarness):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "output")
        self.base = folder
        self.found = folder / "found"
        self.pauses = LoopPauses()
        self.has_users = bool(os.environ.get(AGENT_USERS))
        self._watching: asyncio.Task[None] | None = None
        self._facts: dict[str, Any] = {}
        self._victims_user = 0

    def ports(self) -> WorkerPorts:
        return replace(super().ports(), sleep=self._sleep, tenant_id=None)

    async def _sleep(self, seconds: float) -> None:
        if self._watching is None:
            self._watching = asyncio.create_task(self.pauses.watch())
        await system_sleep(seconds)

    def submit(self, tenant: str, task_id: str, given: Any, definition: Any) -> TaskRef:
        name = f"do-{task_id}"[:64]
        registered = self.memory.definitions.put(tenant, name, a_definition(**definition))
        ref = TaskRef(tenant, JOBS[tenant], task_id)
        task = a_task(
            task_id,
            ref=ref,
            definition=name,
            definition_version=registered.version,
            max_attempts=1,
        )
        self.memory.state.tasks[ref] = task
        self.memory.state.payloads[ref] = Payload(input=given, depends_on=())
        self.memory.queue.send([TaskMessage.to(ref, run=task.run)])
        return ref

    def hostile(self, tenant: str, task_id: str, program: str, definition: Any) -> TaskRef:
        path = self.base / "programs" / f"{task_id}.py"
        path.write_text(program)
        path.chmod(0o644)
        given = {
            "program": task_id,
            "programs": str(path.parent),
            "found": str(self.found),
            "facts": self._facts,
        }
        return self.submit(tenant, task_id, given, definition)

    def task_of(self, ref: TaskRef) -> Task:
        return self.memory.state.tasks[ref]

    def wait_for(self, refs: list[TaskRef], seconds: float = LIMIT_SECONDS) -> bool:
        """Return whether all of these tasks are settled in time."""
        ends = time.monotonic() + seconds
        while not all(self.task_of(ref).state.settled for ref in refs):
            if time.monotonic() > ends:
                return False
            time.sleep(0.02)
        return True

    def attack(self, names: list[str]) -> dict[str, Any]:
        """Run the attacks one after the other, with a victim beside them where users are used."""
        victim = self._start_victim() if self.has_users else None
        observed = [asdict(self.under(attack_named(name))) for name in names]
        report: dict[str, Any] = {"observed": observed, "victim": None}
        if victim is not None:
            report["victim"] = self._end_victim(victim)
        return report

    def _start_victim(self) -> TaskRef:
        ref = self.hostile(VICTIM_TENANT, "victim", VICTIM, {"timeout": 3_600_000})
        reported = self.found / "victim.json"
        ends = time.monotonic() + 30
        while not reported.exists():
            if time.monotonic() > ends:
                raise TimeoutError(f"no victim: {self.task_of(ref)}")
            time.sleep(0.05)
        self._facts = json.loads(reported.read_text()) | {"worker": os.getpid()}
        self._victims_user = reported.stat().st_uid
        return ref

    def _end_victim(self, ref: TaskRef) -> dict[str, Any]:
        alive = psutil.pid_exists(self._facts["victim"])
        (self.found / "end").touch()
        self.wait_for([ref], 30)
        output = self.memory.state.payloads[ref].output if ref in self.memory.state.payloads else 0
        return {"alive": alive, "state": self.task_of(ref).state, "output": output}

    def under(self, attack: Attack) -> Observed:
        """Submit one attack, wait for its end, and note what there is to see."""
        began, logged = time.monotonic(), Path(self.base, "worker.log").stat().st_size
        observed = Observed(name=attack.name)
        self._facts["proxy"] = self._proxy()
        with control() as machine:
            self.pauses.reset()
            refs = [
                self.hostile(
                    ATTACKER, f"{slug(attack.name)}-{number}", attack.program, attack.definition
                )
                for number in range(attack.copies)
            ]
            behind = self._ordinary(attack) if attack.behind else None
            self.wait_for([*refs, *([behind] if behind else [])])
            time.sleep(SETTLE_SECONDS)
            observed.left_processes = self._left()
            pauses = self.pauses.measured()
        observed.machine_ms = round(machine[0] * 1000)
        observed.pause_ms = round(pauses.longest_beside(machine[0]) * 1000)
        observed.raw_pause_ms = round(pauses.longest_raw * 1000)
        observed.seconds = round(time.monotonic() - began, 1)
        observed.behind = self.task_of(behind).state if behind else None
        with Path(self.base, "worker.log").open("rb") as log:
            log.seek(logged)
            observed.log = log.read().decode(errors="replace")
        for ref in refs:
            self._note(observed, ref)
        observed.leaked = sorted(self._leaked(observed))
        observed.left_files = self._left_files()
        return observed

    def _proxy(self) -> int:
        """Return the process id of the proxy for Claude, if it runs."""
        for process in psutil.Process().children():
            if "switchyard_worker.parent.claude.proxy" in process.cmdline():
                return process.pid
        return 0

    def _ordinary(self, attack: Attack) -> TaskRef:
        return self.submit(VICTIM_TENANT, f"behind-{slug(attack.name)}", None, OFFLINE)

    def _note(self, observed: Observed, ref: TaskRef) -> None:
        task = self.task_of(ref)
        observed.request_ids.append(ref.request_id)
        observed.states.append(task.state)
        if task.outcome:
            observed.errors.append(task.outcome.error or "")
            observed.cost_usd += task.outcome.usage.cost_usd
            observed.lost |= "stopped renewing" in (task.outcome.error or "")
        name = ref.task_id
        for path in self.found.glob(f"{name}-*"):
            text = loot(path)[:500].decode(errors="replace")
            if text.startswith(("refused", "SUCCEEDED", "done")):
                observed.happened.append(text)
        prefix = f"task/logs/{ref.request_id}/"
        types = self.memory.blobs.content_types
        for key in self.memory.blobs.keys(prefix):
            observed.uploaded[key.removeprefix(prefix).partition("/")[2]] = types[key]

    def _leaked(self, observed: Observed) -> set[str]:
        """Search all that the attacker got or wrote: loot, files, events, outcome and the log."""
        found: set[str] = set()
        for path in self.found.iterdir():
            if path.name not in {"victim.json", "end"} and path.is_file():
                found |= planted_secrets.found_in(loot(path))
                path.unlink()
        prefixes = tuple(f"task/logs/{request_id}/" for request_id in observed.request_ids)
        for key, content in list(self.memory.blobs.blobs.items()):
            if key.startswith(prefixes):
                found |= planted_secrets.found_in(content) | planted_secrets.found_in(key.encode())
        events = [event for event in self.memory.bus.events if event.tenant_id == ATTACKER]
        found |= planted_secrets.found_in(repr(events).encode())
        found |= planted_secrets.found_in(repr(observed.errors).encode())
        return found | planted_secrets.found_in(observed.log.encode())

    def _left(self) -> int:
        """Count processes of attackers that are still there after a moment."""
        ends = time.monotonic() + 5
        while count := sum(map(self._is_left, psutil.process_iter(["ppid", "status", "uids"]))):
            if time.monotonic() > ends:
                return count
            time.sleep(0.1)
        return 0

    def _is_left(self, process: psutil.Process) -> bool:
        info = process.info
        if not info["uids"] or info["status"] == psutil.STATUS_ZOMBIE:
            return False
        if not self.has_users:
            return False  # the processes of tasks cannot be told from others by their user
        ours = slot_users(os.environ)
        return info["uids"].real in ours and info["uids"].real != self._victims_user

    def _left_files(self) -> list[str]:
        """List files of tasks that have ended, in the shared folders of the machine."""
        if not self.has_users:
            return []
        ours = slot_users(os.environ)
        own = self._facts.get("victims_folder", "")
        places = [self.folder, Path("/dev/shm"), Path("/var/tmp"), Path("/tmp")]
        entries = [path for place in places for path in place.iterdir() if os.path.lexists(path)]
        left = [path for path in entries if path.lstat().st_uid in ours or self._is_folder(path)]
        return [str(path) for path in left if not own.startswith(str(path))]

    def _is_folder(self, path: Path) -> bool:
        """Tell whether it is the folder of a request, which belongs to the worker."""
        return path.parent == self.folder and path.is_dir()


def let_hostile_children_run(folder: Path) -> None:
    """Start every child by a launcher that runs `hostile_child.py` with the same arguments."""
    launcher = folder / "python"
    child = Path(__file__).with_name("hostile_child.py")
    launcher.write_text(
        "#!/bin/sh\n"
        f'export PYTHONPATH="{os.environ["PYTHONPATH"]}"\n'
        f'exec "{sys.executable}" -P "{child}" "$@"\n'
    )
    launcher.chmod(0o755)
    vars(supervision)["sys"] = SimpleNamespace(executable=str(launcher))
    # The proxy finds its packages as this program does: in a container they are installed.
    vars(claude_access)["package_paths"] = lambda: os.environ["PYTHONPATH"]


def drive(worker: AttackedWorker, names: list[str], failed: list[str]) -> None:
    """Attack from a thread of its own, then ask the worker to stop."""
    try:
        report = worker.attack(names)
        Path(worker.base, "observed.json").write_text(json.dumps(report))
    except BaseException as error:
        failed.append(repr(error))
        raise
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


def main(folder: Path) -> int:
    for name, mode in (("programs", 0o711), ("found", 0o1733), ("output", 0o711)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name).chmod(mode)
    let_hostile_children_run(folder)
    worker = AttackedWorker(folder)
    failed: list[str] = []
    names = json.loads((folder / "attacks.json").read_text())
    driving = threading.Thread(target=drive, args=(worker, names, failed), daemon=True)

    def connect(_settings: WorkerSettings) -> WorkerPorts:
        driving.start()
        return worker.ports()

    code = main_of_worker(connect=connect)
    driving.join(timeout=30)
    sys.stderr.write("".join(f"{problem}\n" for problem in failed))
    return 3 if failed else code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
