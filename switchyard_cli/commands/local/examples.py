"""`examples`: the files that come with Switchyard: jobs, triggers, tasks to add to a job."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import typer

from switchyard_cli.errors import BadInput
from switchyard_cli.terminal import results
from switchyard_local.source_tree import JOB_FILE, example_file, example_names

NameArgument = Annotated[
    str | None, typer.Argument(metavar="name", help="Copy this one here, to change it.")
]
CopyOption = Annotated[
    str | None, typer.Option("--copy", metavar="NAME", help="The same as naming it without this.")
]


@dataclass(frozen=True, slots=True)
class Example:
    """A file or a folder of the folder `examples`, and what it is for."""

    name: str
    kind: str
    command: str
    """The `switchyard` command that takes the file."""
    summary: str
    """The first comment of the file."""

    @classmethod
    def named(cls, name: str) -> Self:
        text = example_file(name).read_text()
        summary = text.partition("\n")[0].lstrip("# ").rstrip(".:")
        if re.search("^triggers:", text, re.MULTILINE):
            return cls(name, "triggers", "switchyard triggers apply", summary)
        if re.search("^name:", text, re.MULTILINE):
            return cls(name, "job", "switchyard run", summary)
        return cls(name, "tasks to add", "switchyard add JOB", summary)


def examples(name: NameArgument = None, *, copy: CopyOption = None) -> None:
    """List the examples, each with what it is for, or copy the named one here.

    `run` and `submit` know the jobs by name.
    """
    if name and copy:
        raise BadInput(f"Name one example: {name} or {copy}.")
    wanted = name or copy
    if wanted is None:
        _print_list()
    else:
        _copy(wanted)


def _print_list() -> None:
    for example in map(Example.named, example_names()):
        line = f"{example.name:<20}  {example.kind:<12}  {example.summary}"
        results().print(line, soft_wrap=True)


def _copy(name: str) -> None:
    if name not in example_names():
        raise BadInput(f"There is no example {name!r}; there are {', '.join(example_names())}.")
    source = example_file(name)
    in_folder = source.name == JOB_FILE
    target = Path(name if in_folder else source.name)
    if target.exists():
        raise BadInput(f"{target} exists already: move it away, or run it as it is.")
    if in_folder:
        shutil.copytree(source.parent, target, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    else:
        shutil.copy(source, target)
    command = Example.named(name).command
    results().print(f"{target} is yours to change: {command} {target}", soft_wrap=True)
