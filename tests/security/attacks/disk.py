"""Attacks on the disk: quotas, and what cannot be removed."""

from functools import partial
from typing import Final

from tests.security.attack import Attack, Group, Trace

disk_attack = partial(Attack, group=Group.DISK)
FAILED: Final = frozenset({"FAILED"})
QUOTA: Final = "of disk|files and folders|deep"

_FILL: Final = """
for number in range(200):
    with open({place!s} / f"fill-{{os.getpid()}}-{{number}}", "wb") as file:
        file.write(b"x" * 2_000_000)
time.sleep(30)
"""

ATTACKS: Final = (
    disk_attack(
        name="fill the disk",
        tries="writes more than its quota",
        program=_FILL.format(place="(folder / 'artifacts')"),
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="fill its temporary folder",
        tries="writes more than its quota to TMPDIR",
        program=_FILL.format(place="Path(os.environ['TMPDIR'])"),
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="fill shared memory",
        tries="writes more than its quota to /dev/shm",
        program=_FILL.format(place="Path('/dev/shm')"),
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="hide files in a closed folder",
        tries="writes more than its quota to a folder that is closed to its owner",
        program="""
place = folder / "artifacts" / "closed"
place.mkdir()
for number in range(40):
    (place / str(number)).write_bytes(b"x" * 2_000_000)
place.chmod(0)
time.sleep(30)
""",
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="too many files",
        tries="makes more files than its quota allows",
        program="""
for number in range(8_000): (folder / "tmp" / str(number)).touch()
time.sleep(30)
""",
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="folders that are too deep",
        tries="nests folders deeper than is counted",
        program="""
os.chdir(folder / "tmp")
for _ in range(400):
    os.mkdir("d"); os.chdir("d")
time.sleep(30)
""",
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="many names of one file",
        tries="hides files behind thousands of hard links",
        program="""
(folder / "tmp" / "file").write_bytes(b"x" * 1_000)
for number in range(8_000): os.link(folder / "tmp" / "file", folder / "tmp" / f"l{number}")
time.sleep(30)
""",
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="folders with the sticky bit",
        tries="leaves folders with the sticky bit and without any rights",
        program="""
for mode in (0o1777, 0o1000, 0, 0o2000, 0o111):
    place = folder / "artifacts" / oct(mode)
    (place / "inner").mkdir(parents=True)
    (place / "inner" / "file").write_text("x")
    (place / "inner").chmod(mode); place.chmod(mode)
""",
        shows="task is settled",
        trace=Trace.WORKER,
    ),
    disk_attack(
        name="a closed task folder",
        tries="takes all rights from its own folder",
        program="answer(); folder.chmod(0)",
        shows="task is settled",
        trace=Trace.WORKER,
    ),
    disk_attack(
        name="files elsewhere",
        tries="leaves files and folders in /dev/shm and /var/tmp for the next task",
        program="""
for place in ("/dev/shm", "/var/tmp"):
    try:
        Path(place, f"left-{os.getpid()}", "inner").mkdir(parents=True)
        Path(place, f"left-{os.getpid()}", "file").write_text("x")
        Path(place, f"left-{os.getpid()}").chmod(0o1000)
    except PermissionError:
        pass
""",
        shows="left files outside its folder",
        trace=Trace.WORKER,
    ),
    disk_attack(
        name="shared memory for the next task",
        tries="leaves a segment of System V shared memory",
        program="libc_call(libc.shmget(0x51, 4096, 0o600 | 0o1000))",
        shows="shared memory",
        trace=Trace.WORKER,
    ),
    disk_attack(
        name="a closed folder within another task's",
        tries="opens its folder to all, and a second task hides files there in a folder of its own",
        program="""
number, place = given["program"][-1], Path(str(folder).replace("-1/", "-0/"), "tmp", "closed")
if number == "0":
    for each in (folder, folder / "tmp"): each.chmod(0o777)
    time.sleep(6)
else:
    time.sleep(2)
    place.mkdir()
    (place / "file").write_bytes(b"x" * 80_000_000)
    place.chmod(0)
""",
        copies=2,
        shows="task is settled",
        trace=Trace.WORKER,
    ),
    disk_attack(
        name="a closed folder within another task's shared memory",
        tries="opens a folder in /dev/shm to all, and a second task makes a closed one there",
        program="""
place = Path("/dev/shm/open-to-all")
if given["program"][-1] == "0":
    place.mkdir(); place.chmod(0o777)
    time.sleep(4)
else:
    time.sleep(2)
    (place / "closed" / "inner").mkdir(parents=True)
    (place / "closed" / "inner" / "file").write_text("x")
    (place / "closed").chmod(0)
""",
        copies=2,
        shows="task is settled",
        trace=Trace.WORKER,
    ),
    disk_attack(
        name="files that are deleted and held open",
        tries="writes more than its quota to files that have no name any more",
        program="""
held = []
for number in range(40):
    held.append(open(folder / "tmp" / "file", "wb"))
    held[-1].write(b"x" * 2_000_000); held[-1].flush()
    os.unlink(folder / "tmp" / "file")
time.sleep(15)
""",
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="files that never had a name",
        tries="writes more than its quota to memory that looks like files",
        program="""
held = [os.memfd_create(str(number)) for number in range(40)]
for each in held: os.write(each, b"x" * 2_000_000)
time.sleep(15)
""",
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="deleted files of a process that hides",
        tries="holds deleted files open in a process whose open files others cannot list",
        program="""
libc_call(libc.prctl(4, 0, 0, 0, 0))
held = []
for number in range(40):
    held.append(open(folder / "tmp" / "file", "wb"))
    held[-1].write(b"x" * 2_000_000); held[-1].flush()
    os.unlink(folder / "tmp" / "file")
time.sleep(15)
""",
        states=FAILED,
        shows="hides",
    ),
    disk_attack(
        name="deleted files of a thread",
        tries="holds deleted files open in a thread that shares its open files with no other",
        program="""
import threading
def hold():
    libc_call(libc.unshare(0x400))
    held = []
    for number in range(40):
        held.append(open(folder / "tmp" / "file", "wb"))
        held[-1].write(b"x" * 2_000_000); held[-1].flush()
        os.unlink(folder / "tmp" / "file")
    time.sleep(15)
holding = threading.Thread(target=hold); holding.start(); holding.join()
""",
        states=FAILED,
        shows=QUOTA,
    ),
    disk_attack(
        name="deleted files of a process whose first thread has ended",
        tries="hides open files in a process that looks as if it had ended",
        program="""
import threading
def hold():
    libc_call(libc.prctl(4, 0, 0, 0, 0))
    held = []
    for number in range(40):
        held.append(open(folder / "tmp" / "file", "wb"))
        held[-1].write(b"x" * 2_000_000); held[-1].flush()
        os.unlink(folder / "tmp" / "file")
    time.sleep(15)
threading.Thread(target=hold).start()
end_this_thread()
""",
        states=FAILED,
        shows="hides",
    ),
)
