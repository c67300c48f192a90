"""Attacks across tasks, and on the worker's own process, by one task's user."""

from functools import partial
from typing import Final

from tests.security.attack import Attack, Group, Trace

user_attack = partial(Attack, group=Group.USERS, must_be_refused=True, trace=Trace.PRINTED)

_EXPRESSIONS: Final = {
    "read a file of another task": 'loot(open(f"{victims_folder}/artifacts/secret").read())',
    "list the folder of another task": "os.listdir(victims_folder)",
    "write to the folder of another task": 'open(f"{victims_folder}/artifacts/planted", "w")',
    "replace the folder of another task": 'os.rename(victims_folder, victims_folder + "x")',
    "make a folder beside that of another task": 'os.mkdir(f"{parent}/9")',
    "list the requests that the worker runs": "os.listdir(parent)",
    "list the folder of all tasks": "os.listdir(os.path.dirname(parent))",
    "open the folder of another task to all": "os.chmod(victims_folder, 0o777)",
    "own the folder of another task": "os.chown(victims_folder, os.getuid(), -1)",
    "watch the folder of another task": (
        "libc_call(libc.inotify_add_watch(libc.inotify_init(), victims_folder.encode(), 4095))"
    ),
    "link a file of another task": (
        'os.link(f"{victims_folder}/artifacts/secret", folder / "artifacts" / "linked")'
    ),
    "read the environment of another task": 'loot(open(f"/proc/{victim}/environ").read())',
    "read the memory of another task": 'open(f"/proc/{victim}/mem", "rb")',
    "read the memory map of another task": 'loot(open(f"/proc/{victim}/maps").read())',
    "reach files through another task's root": 'os.listdir(f"/proc/{victim}/root/")',
    "reach files through another task's descriptors": 'os.listdir(f"/proc/{victim}/fd")',
    "reach files through another task's folder": 'os.listdir(f"/proc/{victim}/cwd/")',
    "trace another task": "libc_call(libc.ptrace(16, victim, 0, 0))",
    "seize another task": "libc_call(libc.ptrace(0x4206, victim, 0, 0))",
    "stop another task": "os.kill(victim, 19)",
    "kill another task": "os.kill(victim, 9)",
    "kill the group of another task": "os.killpg(victim, 9)",
    "slow another task down": "os.setpriority(os.PRIO_PROCESS, victim, 19)",
    "limit another task": "import resource; resource.prlimit(victim, 7, (0, 0))",
    "bind another task to one processor": "os.sched_setaffinity(victim, {0})",
    "take another task's descriptor": "libc_call(libc.syscall(438, os.pidfd_open(victim), 1, 0))",
    "enter the namespaces of another task": (
        "libc_call(libc.setns(os.pidfd_open(victim), 0x00020000))"
    ),
    "become the other user": "os.setuid(os.stat(f'/proc/{victim}').st_uid)",
    "become root": "os.setuid(0)",
    "become the worker's user": "os.setuid(os.stat(f'/proc/{worker}').st_uid)",
    "join the other group": "os.setgroups([os.stat(f'/proc/{victim}').st_gid])",
    "read the worker's environment": 'loot(open(f"/proc/{worker}/environ").read())',
    "read the worker's memory": 'open(f"/proc/{worker}/mem", "rb")',
    "read the worker's open files": 'os.listdir(f"/proc/{worker}/fd")',
    "trace the worker": "libc_call(libc.ptrace(16, worker, 0, 0))",
    "stop the worker": "os.kill(worker, 19)",
    "kill the worker": "os.kill(worker, 9)",
    "kill the worker's group": "os.killpg(os.getpgid(worker), 9)",
    "limit the worker": "import resource; resource.prlimit(worker, 7, (0, 0))",
    "slow the worker down": "os.setpriority(os.PRIO_PROCESS, worker, 19)",
    "write where the worker shows that it lives": (
        'open(f"{os.path.dirname(parent)}/.pulse", "w")'
    ),
    "change the worker's sources": (
        'import switchyard_worker.child.limits as ours; open(ours.__file__, "a")'
    ),
    "mount a file system": 'libc_call(libc.mount(b"none", bytes(folder / "tmp"), b"tmpfs", 0, 0))',
    "change the root folder": "os.chroot(folder)",
    "make a device": 'os.mknod(folder / "artifacts" / "memory", 0o20600, os.makedev(1, 1))',
}

_READ_MEMORY: Final = """
import ctypes
class Part(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))
buffer = ctypes.create_string_buffer(64)
here, there = Part(ctypes.addressof(buffer), 64), Part(0x400000, 64)
libc_call(libc.process_vm_readv(victim, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
succeeded("its memory was read")
"""

_SET_USER_ID: Final = """
import shutil, subprocess
program = shutil.which("su")
ended = subprocess.run(
    [program, "root", "-c", "id -u; cat /proc/%d/environ" % worker],
    stdin=subprocess.DEVNULL, capture_output=True, timeout=5,
)
loot(ended.stdout + ended.stderr)
if ended.returncode == 0:
    succeeded("a program ran as root")
refused((ended.stderr.decode() or "exit code %d" % ended.returncode).strip()[-80:])
"""

_USER_NAMESPACE: Final = """
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
    refused("no namespace")
Path("/proc/self/setgroups").write_text("deny")
Path("/proc/self/uid_map").write_text("0 %d 1" % os.stat("/proc/self").st_uid)
for path in (f"{victims_folder}/artifacts/secret", f"/proc/{worker}/environ"):
    loot(open(path).read())
succeeded("root of a namespace read another's file")
"""

_SIGNAL_ALL: Final = """
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.kill(-1, signal.SIGUSR1)  # ends what does not handle it, this process excepted
    os._exit(0)
os.waitpid(child, 0)
time.sleep(0.2)
"""

_PLANTED_MODULES: Final = """
code = "import os; open('%s', 'w').write('x')" % (given["found"] + "/SUCCEEDED-planted")
for place in (folder, folder / "home", folder / "tmp"):
    for name in ("json", "sitecustomize", "usercustomize", "jsonschema", "switchyard_worker"):
        (place / f"{name}.py").write_text(code)
os.chdir(folder)
answer('{"status": "completed", "output": {"a": 1}}')
"""

_OPENED_FOLDER: Final = """
notes = folder / "artifacts" / "notes"
if given["program"][-1] == "0":
    notes.write_text("notes")
    for each in (notes, notes.parent, folder): each.chmod(0o777)
    time.sleep(4)
else:
    time.sleep(2)
    Path(str(notes).replace("-1/", "-0/")).read_text()
    succeeded()
"""

ATTACKS: Final = (
    *(
        user_attack(
            name=name,
            tries=f"tries to {name}",
            program=f"parent = os.path.dirname(victims_folder)\n{code}\nsucceeded('it could')\n",
        )
        for name, code in _EXPRESSIONS.items()
    ),
    user_attack(
        name="copy the memory of another task",
        tries="calls process_vm_readv on another task",
        program=_READ_MEMORY,
    ),
    user_attack(
        name="gain rights by a set-uid program",
        tries="runs su, which belongs to root and has the set-uid bit",
        program=_SET_USER_ID,
    ),
    user_attack(
        name="become root of a user namespace",
        tries="makes a namespace in which it is root, and reads others' files there",
        program=_USER_NAMESPACE,
    ),
    Attack(
        name="a folder that its task opened to all",
        group=Group.USERS,
        tries="reads the folder of a task that has allowed everybody everything",
        program=_OPENED_FOLDER,
        must_be_refused=True,
        shows="attack .*: (refused|done)",
        trace=Trace.PRINTED,
        copies=2,
    ),
    Attack(
        name="signal every process",
        group=Group.USERS,
        tries="sends a deadly signal to all processes that it may signal",
        program=_SIGNAL_ALL,
        shows="killed by signal|left no outcome",
        behind=True,
    ),
    Attack(
        name="plant modules for our own processes",
        group=Group.USERS,
        tries="writes modules that the process which checks its output might import",
        program=_PLANTED_MODULES,
        definition={"output_schema": {"type": "object"}},
        shows="task is settled",
        trace=Trace.WORKER,
    ),
)
