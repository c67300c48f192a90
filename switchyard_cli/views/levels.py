"""The order in which the tasks of a job can run."""

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter


def levels(parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Tasks of one level wait for none of each other; within a level the given order stays."""
    sorter = TopologicalSorter(parents)
    sorter.prepare()
    place = {task: number for number, task in enumerate(parents)}
    found = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=place.__getitem__)
        sorter.done(*ready)
        found.append(ready)
    return found
