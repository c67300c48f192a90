"""Python functions as tasks: `@task` marks one, `progress` reports how far it is, and
`input_file` and `input_files` find the files that it is given.

A marked function stays the plain function that it was, so a test calls it like any other. Workers
run it in a task's child process; importing this package costs that process next to nothing.
"""

from switchyard.functions.errors import FunctionsError, WrongInput
from switchyard.functions.files import input_file, input_files
from switchyard.functions.progress import progress
from switchyard.functions.tasks import task

__all__ = ["FunctionsError", "WrongInput", "input_file", "input_files", "progress", "task"]
