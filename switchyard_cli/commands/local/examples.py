"""`examples`: the files that come with Switchyard: jobs, triggers, tasks to add to a job."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import typer

from switchyard_cli.errors import BadInput
from switchyard_cli.terminal import results
from switchyard_local.source_tree import EXAMPLES, example_names

CopyOption = Annotated[
    str | None, typer.Option("--copy", metavar="NAME", help="Copy this one here, to change it.")
]


@dataclass(frozen=True, slots=True)
class Example:
    """A file of the folder `examples`, and what it is for."""

    name: str
    kind: str
    command: str
    """What takes the file."""
    summary: str
    """The first comment of the file."""

    @classmethod
    def named(cls, name: str) -> Self:
        text = (EXAMPLES / f"{name}.yaml").read_text()
        summary = text.partition("\n")[0].lstrip("# ").rstrip(".:")
        if re.search("^triggers:", text, re.MULTILINE):
            return cls(name, "triggers", "switchyard triggers apply", summary)
        if re.search("^name:", text, re.MULTILINE):
            return cls(name, "job", "switchyard run", summary)
        return cls(name, "tasks to add", "switchyard add JOB", summary)


def examples(copy: CopyOption = None) -> None:
    """List the examples, each with what it is for, or copy one here.

    `run` and `submit` know the jobs by name.
    """
    if copy is None:
        for example in map(Example.named, example_names()):
            line = f"{example.name:<20}  {example.kind:<12}  {example.summary}"
            results().print(line, soft_wrap=True)
        return
    if copy not in example_names():
        raise BadInput(f"There is no example {copy!r}; there are {', '.join(example_names())}.")
    target = Path(f"{copy}.yaml")
    if target.exists():
        raise BadInput(f"{target} exists already: move it away, or run it as it is.")
    shutil.copy(EXAMPLES / target.name, target)
    command = Example.named(copy).command
    results().print(f"{target} is yours to change: {command} {target}", soft_wrap=True)
