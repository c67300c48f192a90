"""Attacks on the limits of a task: its memory, processes, time and priority."""

from functools import partial
from typing import Final

from tests.security.attack import Attack, Group, Trace

limit_attack = partial(Attack, group=Group.LIMITS)
refused_by_system = partial(limit_attack, must_be_refused=True, trace=Trace.PRINTED)
KILLED: Final = "timed out|left no outcome"
FAILED: Final = frozenset({"FAILED"})
TIMED_OUT: Final = frozenset({"TIMED_OUT"})

_CHILDREN: Final = """
started = []
try:
    for _ in range(2_000):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
        started.append(child)
except OSError as error:
    why = error.strerror
    for child in started:
        os.kill(child, 9)
    for child in started:
        os.waitpid(child, 0)
    refused(f"{why} after {len(started)} processes")
succeeded("2,000 processes")
"""

_THREADS: Final = """
import threading
gate = threading.Event()
try:
    for number in range(2_000):
        threading.Thread(target=gate.wait, daemon=True).start()
except RuntimeError as error:
    gate.set()
    refused(f"{error} after {number}")
succeeded("2,000 threads")
"""

_LEFT: Final = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {before}
        time.sleep(60)
    os._exit(0)
os.wait()
answer()
"""

ATTACKS: Final = (
    refused_by_system(
        name="all memory",
        tries="takes memory until there is none",
        program="""
parts = []
while len(parts) < 40:
    parts.append(bytearray(100_000_000))
succeeded("4 GB")
""",
    ),
    Attack(
        name="memory of many processes",
        group=Group.LIMITS,
        tries="takes 2.4 GB by eight processes that each stay below their limit",
        program="""
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(b"x") * 300_000_000
        time.sleep(60)
        os._exit(0)
time.sleep(60)
""",
        states=frozenset({"FAILED"}),
        shows="of memory",
    ),
    Attack(
        name="memory of processes whose first thread has ended",
        group=Group.LIMITS,
        tries="takes 2.4 GB by eight processes that look as if they had ended",
        program="""
import threading
def hold():
    time.sleep(1)
    held = bytearray(b"x") * 300_000_000
    time.sleep(60)
for _ in range(8):
    if os.fork() == 0:
        threading.Thread(target=hold).start()
        end_this_thread()
time.sleep(60)
""",
        states=frozenset({"FAILED"}),
        shows="of memory",
    ),
    refused_by_system(
        name="a file of 200 MB",
        tries="writes a file that is larger than is allowed",
        program="""
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open(folder / "artifacts" / "large", "wb") as file:
    for _ in range(200):
        file.write(b"x" * 1_000_000); file.flush()
succeeded("200 MB")
""",
    ),
    refused_by_system(
        name="two thousand processes", tries="starts 2,000 processes", program=_CHILDREN
    ),
    refused_by_system(name="two thousand threads", tries="starts 2,000 threads", program=_THREADS),
    refused_by_system(
        name="more memory than allowed",
        tries="lifts its limit on memory",
        program="""
import resource
try:
    resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except ValueError as error:
    refused(str(error))
succeeded("its limit is lifted")
""",
    ),
    refused_by_system(
        name="more processes than allowed",
        tries="lifts its limit on processes",
        program="""
import resource
try:
    resource.setrlimit(resource.RLIMIT_NPROC, (100_000, 100_000))
except ValueError as error:
    refused(str(error))
succeeded("its limit is lifted")
""",
    ),
    refused_by_system(
        name="a better priority",
        tries="raises its priority above its neighbours'",
        program="os.setpriority(os.PRIO_PROCESS, 0, 0)\nsucceeded()",
    ),
    refused_by_system(
        name="a real-time policy",
        tries="asks to run before everything else",
        program="os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))\nsucceeded()",
    ),
    refused_by_system(
        name="the ordinary policy",
        tries="leaves the policy for processes that run when nothing else does",
        program="os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))\nsucceeded()",
    ),
    refused_by_system(
        name="a better priority of its session",
        tries="raises the priority of the group that the scheduler made of its session",
        program="""
place = Path("/proc/self/autogroup")
if not place.exists():
    refused("the system has none")
place.write_text("-20")
succeeded("it could")
""",
    ),
    limit_attack(
        name="sleep for ever",
        tries="does nothing until it is ended",
        program="time.sleep(600)",
        states=TIMED_OUT,
        shows=KILLED,
    ),
    limit_attack(
        name="ignore the signal to end",
        tries="ignores SIGTERM, SIGINT and SIGHUP",
        program="""
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
time.sleep(600)
""",
        states=TIMED_OUT,
        shows=KILLED,
    ),
    limit_attack(
        name="stop itself",
        tries="stops itself, so that it cannot handle a signal",
        program="os.kill(os.getpid(), signal.SIGSTOP)",
        states=TIMED_OUT,
        shows=KILLED,
    ),
    limit_attack(
        name="all processors",
        tries="computes in 32 processes at once",
        program="""
for _ in range(32):
    if os.fork() == 0:
        while True: pass
time.sleep(600)
""",
        states=TIMED_OUT,
        shows=KILLED,
        behind=True,
    ),
    limit_attack(
        name="outlive the task",
        tries="leaves a process in a session of its own",
        program=_LEFT.format(before="pass"),
        shows="outlived",
        trace=Trace.WORKER,
    ),
    limit_attack(
        name="outlive the task and ignore signals",
        tries="leaves a process that ignores every signal that it can",
        program=_LEFT.format(
            before="[signal.signal(n, signal.SIG_IGN) for n in range(1, 30) if n not in (9, 19)]"
        ),
        shows="outlived",
        trace=Trace.WORKER,
    ),
    limit_attack(
        name="end without an outcome",
        tries="ends with success and says nothing",
        program="os._exit(0)",
        states=FAILED,
        shows="left no outcome",
    ),
    limit_attack(
        name="end by a crash",
        tries="kills itself with a signal that dumps its memory",
        program="os.kill(os.getpid(), signal.SIGSEGV)",
        states=FAILED,
        shows="killed by signal 11",
    ),
    limit_attack(
        name="claim a time and a cost",
        tries="reports a negative duration, cost and usage",
        program="""
answer('{"status": "completed", "output": 1, "cost_usd": -5, "duration_ms": -1}')
""",
        states=FAILED,
        shows="cannot be understood",
    ),
    limit_attack(
        name="succeed and fail at once",
        tries="reports success and ends with an error",
        program="answer(); os._exit(3)",
        states=FAILED,
        shows="exit code 3",
    ),
)
