"""The files of tasks, in memory."""

from switchyard.testing import MemoryHarness
from switchyard.usecases.jobs.task_files import TaskFiles


def files_of(harness: MemoryHarness) -> TaskFiles:
    return TaskFiles(blobs=harness.blobs, links=harness.links, bucket="bucket")
