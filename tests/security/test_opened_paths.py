"""Nothing in the worker but a few modules touches files below a task's folder.

Those resolve names by descriptors and without links. This reads the sources: each other call that
touches a file, and each use of a task folder's path, has its reason below.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

WORKER: Final = Path(__file__).parents[2] / "switchyard_worker"
CONFINED: Final = {f"parent/files/{name}.py" for name in ("confined", "trees", "folder")}
"""Where names below a task's folder are resolved; `removal.py` and `quota.py` go through them."""
IN_THE_CHILD: Final = ("child/", "agents/")
"""These run as the task itself, with its rights."""
TOUCHING: Final = {
    "open", "fdopen", "read_text", "read_bytes", "write_text", "write_bytes", "touch",
    "walk", "fwalk", "scandir", "listdir", "iterdir", "glob", "iglob", "rglob",
    "stat", "lstat", "exists", "lexists", "is_file", "is_dir", "is_symlink", "isfile", "isdir",
    "resolve", "realpath", "readlink", "samefile", "getsize", "statvfs",
    "mkdir", "makedirs", "rmdir", "unlink", "remove", "removedirs", "rename", "renames",
    "link", "symlink", "symlink_to", "hardlink_to", "mkfifo", "mknod", "truncate", "utime",
    "chmod", "lchmod", "chown", "lchown", "chdir", "rmtree", "copy", "copy2", "copyfile",
    "copytree", "move", "make_archive", "mkstemp", "mkdtemp", "NamedTemporaryFile",
    "TemporaryDirectory", "TemporaryFile", "ZipFile", "loadtxt",
}  # fmt: skip
ALLOWED: Final = {
    "__main__.py": {"move": "of leftovers", "remove": "of leftovers"},
    "boundary.py": {"read_text": "/proc"},
    "parent/attempts/assignments.py": {"resolve": "references of a task, which are no paths"},
    "parent/attempts/attempt.py": {"remove": "asks for the removal of a task's folder"},
    "parent/attempts/grader.py": {"remove": "asks for the removal of a grader's folder"},
    "parent/receive/tokens.py": {"move": "a task to another part of the ready index"},
    "parent/files/attempt_folders.py": {"remove": "through the task's folder"},
    "parent/files/inputs.py": dict.fromkeys(
        ("mkdir", "fdopen"), "by descriptors, below a folder that no child has seen yet"
    ),
    "parent/configuration.py": dict.fromkeys(
        ("mkdir", "chmod", "rmdir", "stat", "lstat", "lexists", "mkdtemp", "tempfile"),
        "a folder that the worker makes at its start, before there is a task",
    ),
    "parent/files/removal.py": {
        **dict.fromkeys(("mkdir", "chmod", "open"), "the worker's own folder, and the lock in it"),
        **dict.fromkeys(("scandir", "is_dir"), "the worker's own folders, above the tasks'"),
        **dict.fromkeys(("rename", "rmdir"), "a folder of the worker's own around the tasks'"),
        "remove": "an item of a list, or through the task's folder",
    },
    "parent/files/users.py": {"read_text": "/proc"},
    "parent/health/pulse.py": dict.fromkeys(
        ("mkdir", "open", "read_bytes", "stat", "statvfs", "touch", "unlink"),
        "files of the worker's own, above the tasks' folders",
    ),
    "parent/supervision/child_output.py": {"fdopen": "the pipe from a child"},
    "parent/attempts/left_behind.py": {"is_file": "of an entry that the task's folder opened"},
    "parent/supervision/descendants.py": dict.fromkeys(
        ("scandir", "open", "read_bytes", "stat"), "/proc"
    ),
    "parent/supervision/user_processes.py": dict.fromkeys(
        ("scandir", "stat", "read_bytes"), "/proc"
    ),
    "parent/supervision/quota.py": {"stat": "the module, for what a process holds open"},
    "parent/supervision/end_orphans.py": dict.fromkeys(
        ("iterdir", "stat", "read_bytes", "read_text"), "/proc"
    ),
    "parent/supervision/end_user.py": {"read_text": "/proc"},
    "pin_base_image.py": dict.fromkeys(("read_text", "write_text"), "the Dockerfile; no worker"),
    "task.py": dict.fromkeys(
        ("exists", "mkdir", "open", "read_text"), "a task that is run by hand, without a worker"
    ),
}
PATHS: Final = {
    "parent/supervision/children.py": "the child's working folder, where it is no other user",
    "parent/supervision/supervisor.py": "an argument, a variable and a working folder of the child",
    "parent/files/removal.py": "a field of a log line",
    "parent/attempts/upload.py": "a field of a log line",
}


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(WORKER.rglob("*.py")):
        name = str(path.relative_to(WORKER))
        if name not in CONFINED and not name.startswith(IN_THE_CHILD):
            yield name, ast.parse(path.read_text())


def touched(tree: ast.AST) -> set[str]:
    """The names of functions that touch files and are called, or handed on to be called."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in TOUCHING:
            found.add(node.attr)
        elif isinstance(node, ast.Name) and node.id in TOUCHING and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.name for alias in node.names if alias.name in {"shutil", "tempfile"}}
    return found


def takes_paths(tree: ast.AST) -> bool:
    """Whether it takes the path of something that is called a folder."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "path" and "folder" in ast.unparse(node)
        for node in ast.walk(tree)
    )


def test_only_a_few_modules_touch_files_below_a_tasks_folder() -> None:
    found = {name: calls for name, tree in sources() if (calls := touched(tree))}

    assert found == {name: set(calls) for name, calls in ALLOWED.items()}


def test_a_tasks_path_is_only_handed_to_its_child_and_to_the_log() -> None:
    assert {name for name, tree in sources() if takes_paths(tree)} == PATHS.keys()


@pytest.mark.parametrize(
    "source",
    [
        "open(folder.path / 'x')",
        "(folder.path / 'x').read_bytes()",
        "os.walk(folder.path)",
        "shutil.rmtree(folder.path)",
        "await offload(Path.unlink, path)",
        "from os import scandir\nscandir(place)",
        "import shutil as s",
    ],
)
def test_what_touches_files_is_seen(source: str) -> None:
    assert touched(ast.parse(source, mode="exec"))
