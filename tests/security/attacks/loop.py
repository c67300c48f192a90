"""Attacks on the event loop of a worker, on its slots and on what it computes for tenants."""

from functools import partial
from typing import Any, Final

from tests.security.attack import Attack, Group

loop_attack = partial(Attack, group=Group.LOOP, copies=2, behind=True, needs_users=False)


def nested_unevaluated(depth: int) -> dict[str, Any]:
    """Each level is looked at twice for what it evaluates, so its parts are looked at 2^n times."""
    schema: dict[str, Any] = {"properties": {"a": {}}, "unevaluatedProperties": False}
    for _ in range(depth):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


def _forking(hops: str) -> str:
    return f"""
for hop in {hops}:
    if os.fork():
        os._exit(0)
    os.setsid()
time.sleep(60)
"""


_CHAIN_FOR_EVER: Final = """
import itertools
end = time.monotonic() + 60
""" + _forking("itertools.takewhile(lambda _: time.monotonic() < end, itertools.count())")

_BOMB: Final = """
end, leader = time.monotonic() + 60, os.getpid()
while time.monotonic() < end:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
    if os.getpid() == leader and time.monotonic() > end - 58:
        os._exit(0)
"""

_ZOMBIES: Final = """
for number in range({count}):
    if os.fork() == 0:
        os._exit(0)
answer()
"""

ATTACKS: Final = (
    loop_attack(
        name="a chain of 1,500 times fork and exit",
        tries="forks and exits 1,500 times, so that each link of the chain is an orphan",
        shows="timed out|left no outcome",
        program=_forking("range(1_500)"),
    ),
    loop_attack(
        name="a chain of fork and exit without an end",
        tries="forks and exits until it is ended",
        shows="timed out|left no outcome",
        program=_CHAIN_FOR_EVER,
    ),
    loop_attack(
        name="a fork bomb",
        tries="starts as many processes as it can, each in a session of its own",
        shows="processes and threads at once|left no outcome|timed out",
        program=_BOMB,
        needs_users=True,
    ),
    loop_attack(
        name="2,000 zombies",
        tries="leaves 2,000 ended processes for others to reap",
        shows="task is settled",
        program=_ZOMBIES.format(count=2_000),
    ),
    loop_attack(
        name="10,000 zombies",
        tries="leaves 10,000 ended processes for others to reap",
        shows="task is settled",
        program=_ZOMBIES.format(count=10_000),
        slow=True,
    ),
    loop_attack(
        name="a hundred megabytes in tiny lines",
        tries="prints a hundred megabytes in lines of one character",
        shows="printed more than",
        program="for _ in range(100): os.write(1, b'x\\n' * 500_000)",
    ),
    loop_attack(
        name="a hundred megabytes in one line",
        tries="prints a hundred megabytes without a line end",
        shows="printed more than",
        program="for _ in range(100): os.write(1, b'x' * 1_000_000)",
    ),
    loop_attack(
        name="control characters",
        tries="prints 48 MB of control characters",
        shows="the rest is not stored",
        program="for _ in range(60): os.write(1, b'\\x1b[2J\\x07\\xe2\\x80\\xae\\n' * 100_000)",
    ),
    loop_attack(
        name="markers",
        tries="prints over a million markers of steps",
        shows="printed more than",
        program="""
line = b'::step {"type": "sdk_query", "stepName": "x", "call": "y"}\\n'
for _ in range(60): os.write(1, line * 20_000)
""",
    ),
    loop_attack(
        name="long markers",
        tries="prints long markers with nested values",
        shows="the rest is not stored",
        program="""
line = b'::step ' + json.dumps({"type": "sdk_query", "stepName": "s", "x": [[]] * 2_000}).encode()
for _ in range(600): os.write(1, (line + b'\\n') * 10)
""",
    ),
    loop_attack(
        name="lines of what looks like secrets",
        tries="prints lines that are slow to search for secrets",
        shows="the rest is not stored",
        program="for _ in range(60): os.write(1, (b'token=' * 1_300 + b'\\n') * 100)",
    ),
    loop_attack(
        name="1,500 nested folders",
        tries="nests 1,500 folders in its artifacts",
        shows="files are left out",
        program="""
os.chdir(folder / "artifacts")
for _ in range(1_500):
    os.mkdir("d"); os.chdir("d")
os.chdir(folder); answer()
""",
    ),
    loop_attack(
        name="10,000 small files",
        tries="leaves 10,000 files",
        shows="files are left out",
        program="""
for number in range(10_000): (folder / "artifacts" / str(number)).touch()
answer()
""",
    ),
    loop_attack(
        name="100,000 small files",
        tries="leaves 100,000 files",
        shows="files are left out|more than",
        slow=True,
        program="""
for number in range(100_000): (folder / "artifacts" / str(number)).touch()
answer()
""",
    ),
    loop_attack(
        name="a deep outcome",
        tries="nests its outcome nine million levels deep",
        shows="cannot be understood|cannot be checked|the output",
        program="""
answer('{"status": "completed", "output": ' + "[" * 9_000_000 + "]" * 9_000_000 + "}")
""",
    ),
    loop_attack(
        name="an outcome of millions of lists",
        tries="writes an outcome of millions of empty lists",
        shows="cannot be understood|cannot be checked|the output",
        program="""answer('{"status": "completed", "output": [' + "[]," * 6_600_000 + '[]]}')""",
    ),
    loop_attack(
        name="an outcome of a million members",
        tries="writes an outcome with a million members",
        shows="cannot be understood|cannot be checked|the output",
        program="""
answer(json.dumps({"status": "completed", "output": {str(n): n for n in range(1_000_000)}}))
""",
    ),
    loop_attack(
        name="an outcome of long numbers",
        tries="writes an outcome of thousands of numbers of 4,300 digits",
        shows="cannot be understood|cannot be checked|the output",
        program="""
answer('{"status": "completed", "output": [' + ("9" * 4_300 + ",") * 4_000 + '1]}')
""",
    ),
    loop_attack(
        name="the largest output of the most values",
        tries="writes the largest outcome that is still allowed",
        shows="task is settled",
        program="""
answer(json.dumps({"status": "completed", "output": [["x" * 180] for n in range(49_000)]}))
""",
    ),
    loop_attack(
        name="an endless output schema",
        tries="brings an output schema whose check takes for ever",
        shows="took longer|cannot be applied",
        definition={"output_schema": nested_unevaluated(24)},
        program="""answer('{"status": "completed", "output": {"a": 1}}')""",
    ),
    loop_attack(
        name="an endless input schema",
        tries="brings an input schema whose check takes for ever",
        shows="took longer|cannot be applied|input",
        definition={"input_schema": nested_unevaluated(24)},
        program="answer()",
    ),
    loop_attack(
        name="an output schema with a pattern that backtracks",
        tries="brings a pattern that backtracks for ever",
        shows="took longer|cannot be applied|match",
        definition={"output_schema": {"pattern": "(a+)+$"}},
        program="""answer('{"status": "completed", "output": "' + "a" * 40 + '!"}')""",
    ),
    loop_attack(
        name="descendants that hold the output open",
        tries="leaves fifty processes that hold its output open",
        shows="outlived",
        program="""
for _ in range(50):
    if os.fork() == 0:
        os.setsid(); time.sleep(60); os._exit(0)
answer()
""",
    ),
    loop_attack(
        name="a huge environment",
        tries="leaves processes with huge arguments and environments",
        shows="outlived|task is settled",
        program="""
for _ in range(20):
    if os.fork() == 0:
        huge = {str(n): "x" * 100_000 for n in range(10)}
        os.execve("/bin/sleep", ["sleep" + "x" * 100_000, "60"], huge)
answer()
""",
    ),
)
