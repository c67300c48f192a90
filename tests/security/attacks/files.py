"""Attacks on what the worker reads, writes and uploads below a task's folder."""

from functools import partial
from typing import Final

from tests.security.attack import Attack, Group, Trace

file_attack = partial(Attack, group=Group.FILES, trace=Trace.WORKER)
LEFT_OUT: Final = "files are left out|file is not uploaded"

_EXCHANGED: Final = """
import ctypes
artifacts, pairs = folder / "artifacts", 60
for n in range(pairs):
    (artifacts / f"x{n}").mkdir()
    (artifacts / f"x{n}" / "environ").write_text("an artifact")
    (folder / "tmp" / f"y{n}").symlink_to("/proc/self")
names = [(bytes(artifacts / f"x{n}"), bytes(folder / "tmp" / f"y{n}")) for n in range(pairs)]
def exchange(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for one, other in names:
            libc.renameat2(-100, one, -100, other, 2)
if os.fork() == 0:
    os.setsid()
    exchange(60)
exchange(3)  # the quota counts them meanwhile
"""

_OUTCOME_IN_PLACE: Final = """
(folder / "outcome.json").unlink(missing_ok=True)
{make}
"""

ATTACKS: Final = (
    file_attack(
        name="exchange folders with links while they are read",
        tries="exchanges folders of artifacts with links to /proc/self without a pause",
        program=_EXCHANGED,
        shows=f"{LEFT_OUT}|outlived|task is settled",
    ),
    file_attack(
        name="forged names outside artifacts",
        tries="writes thousands of files outside artifacts, with names that forge lines of a log",
        program="""
for name in (b"\\ncost 0 USD", b"\\x1b[2J", b"\\xff", b"n" * 250):
    open(bytes(folder) + b"/ " + name, "wb").close()
for number in range(3_000): (folder / f"x{number}").touch()
(folder / "link").symlink_to("/etc")
answer()
""",
        states=frozenset({"COMPLETED"}),
        shows="files outside artifacts are not stored",
        hides=("\x1b[2J", "\ncost 0 USD"),
    ),
    file_attack(
        name="a link to the worker's environment",
        tries="leaves a link to /proc/self/environ as an artifact",
        program='(folder / "artifacts" / "environ").symlink_to("/proc/self/environ")',
        shows=LEFT_OUT,
        uploads=frozenset(),
    ),
    file_attack(
        name="a linked folder",
        tries="leaves a link to /proc/self as a folder of artifacts",
        program='(folder / "artifacts" / "self").symlink_to("/proc/self")',
        shows=LEFT_OUT,
        uploads=frozenset(),
    ),
    file_attack(
        name="artifacts that are a link",
        tries="replaces the folder of artifacts by a link to /proc/self",
        program='(folder / "artifacts").rmdir(); (folder / "artifacts").symlink_to("/proc/self")',
        shows=LEFT_OUT,
        uploads=frozenset(),
    ),
    file_attack(
        name="logs that are a link",
        tries="replaces the file with its output by a link to the worker's environment",
        program="""
(folder / "logs" / "stdout.log").unlink()
(folder / "logs" / "stdout.log").symlink_to("/proc/self/environ")
""",
        shows=LEFT_OUT,
    ),
    file_attack(
        name="a link out of the folder",
        tries="leaves a link to a file of another task",
        program='(folder / "artifacts" / "x").symlink_to(f"{victims_folder}/artifacts/secret")',
        shows=LEFT_OUT,
        uploads=frozenset(),
    ),
    file_attack(
        name="a second name of a system file",
        tries="makes a hard link to a file that it does not own",
        program='os.link("/etc/passwd", folder / "artifacts" / "passwd")',
        must_be_refused=True,
        trace=Trace.PRINTED,
    ),
    file_attack(
        name="a file with two names",
        tries="leaves an artifact that has a second name elsewhere",
        program="""
(folder / "tmp" / "one").write_text("x")
os.link(folder / "tmp" / "one", folder / "artifacts" / "two")
""",
        shows=LEFT_OUT,
        uploads=frozenset(),
    ),
    file_attack(
        name="a pipe among the artifacts",
        tries="leaves a named pipe that blocks its reader",
        program='os.mkfifo(folder / "artifacts" / "pipe")',
        shows=LEFT_OUT,
        uploads=frozenset(),
    ),
    file_attack(
        name="a socket among the artifacts",
        tries="leaves a socket as an artifact",
        program="""
os.chdir(folder / "artifacts")
socket.socket(socket.AF_UNIX).bind("socket")
""",
        shows=LEFT_OUT,
        uploads=frozenset(),
    ),
    file_attack(
        name="an outcome that is a link",
        tries="makes its outcome a link to the worker's environment",
        program=_OUTCOME_IN_PLACE.format(
            make='(folder / "outcome.json").symlink_to("/proc/self/environ")'
        ),
        shows="cannot be understood",
        states=frozenset({"FAILED"}),
        trace=Trace.OUTCOME,
    ),
    file_attack(
        name="an outcome that is a pipe",
        tries="makes its outcome a named pipe",
        program=_OUTCOME_IN_PLACE.format(make='os.mkfifo(folder / "outcome.json")'),
        shows="cannot be understood",
        states=frozenset({"FAILED"}),
        trace=Trace.OUTCOME,
    ),
    file_attack(
        name="an outcome that is a folder",
        tries="makes its outcome a folder",
        program=_OUTCOME_IN_PLACE.format(make='(folder / "outcome.json").mkdir()'),
        shows="cannot be understood",
        states=frozenset({"FAILED"}),
        trace=Trace.OUTCOME,
    ),
    file_attack(
        name="an outcome of another user",
        tries="makes its outcome a link to another task's file",
        program=_OUTCOME_IN_PLACE.format(
            make='(folder / "outcome.json").symlink_to(f"{victims_folder}/task.json")'
        ),
        shows="cannot be understood",
        states=frozenset({"FAILED"}),
        trace=Trace.OUTCOME,
    ),
    file_attack(
        name="an outcome of 90 MB",
        tries="writes an outcome that is too large to be read",
        program="""
with open(folder / "outcome.json", "wb") as file:
    file.truncate(90_000_000)
""",
        shows="larger than",
        states=frozenset({"FAILED"}),
        trace=Trace.OUTCOME,
    ),
    file_attack(
        name="a page that a browser runs",
        tries="leaves HTML, SVG and XML artifacts with scripts",
        program="""
for ending in ("html", "svg", "xml", "xhtml", "htm", "HTML"):
    (folder / "artifacts" / f"page.{ending}").write_text("<script>alert(1)</script>")
""",
        shows="task is settled",
    ),
    file_attack(
        name="names that steer a terminal",
        tries="leaves artifacts whose names contain escape sequences and line ends",
        program="""
for name in ("\\x1b[2J", "a\\nb", "\\u202egpj.exe", "c\\rd"):
    (folder / "artifacts" / name).write_text("x")
""",
        shows=LEFT_OUT,
        uploads=frozenset(),
    ),
    file_attack(
        name="names that are too long for a key",
        tries="leaves artifacts below names that exceed the length of a key",
        program="""
place = folder / "artifacts" / ("n" * 250) / ("m" * 250) / ("o" * 250)
place.mkdir(parents=True)
(place / "file").write_text("x")
""",
        shows=LEFT_OUT,
        uploads=frozenset(),
    ),
    file_attack(
        name="two hundred and fifty artifacts",
        tries="leaves more artifacts than are uploaded",
        program='for n in range(250): (folder / "artifacts" / str(n)).write_text("x")',
        shows=LEFT_OUT,
    ),
    file_attack(
        name="a result in the place of the judged one",
        tries="leaves a result that differs from the output that was checked",
        program="""
(folder / "artifacts" / "task-result.json").write_text('"forged"')
answer('{"status": "completed", "output": {"a": 1}}')
""",
        definition={"output_schema": {"type": "object"}},
        shows="task is settled",
    ),
)
