"""The order in which the tasks of a job can run."""

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter


def levels(parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Tasks of one level wait for none of each other; within a level the given order stays."""
    sorter = TopologicalSorter(parents)
    sorter.prepare()
    found = []
    while sorter.is_active():
        ready = set(sorter.get_ready())
        sorter.done(*ready)
        found.append([task for task in parents if task in ready])
    return found
