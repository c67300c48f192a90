"""The files of tasks, in memory."""

from switchyard.adapters.memory import MemoryYard
from switchyard.usecases.jobs.task_files import TaskFiles


def files_of(yard: MemoryYard) -> TaskFiles:
    return TaskFiles(blobs=yard.blobs, links=yard.links, bucket="bucket")
