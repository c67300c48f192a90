"""One version writes, another reads: `write` and `read` run in processes of their own."""

import contextlib
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from switchyard import VERSION
from tests.compatibility.accepted import SINCE_RELEASED
from tests.compatibility.readers import OPAQUE, PARKED, read_document, read_item, read_message
from tests.compatibility.recording import record
from tests.compatibility.released import RELEASED
from tests.compatibility.sources import (
    ROOT,
    NoHistory,
    extracted,
    last_released,
    python_in,
)
from tests.compatibility.stage import Stage, readable
from tests.compatibility.use_cases import small_limits
from tests.simulation.run import silence


def write(file: Path) -> None:
    recording = record(storms=False)
    watch = recording.watch
    parts = {"items": watch.items, "messages": watch.messages, "documents": watch.documents}
    content: dict[str, Any] = {name: dict(part.found) for name, part in parts.items()}
    content["documents"].pop(PARKED, None)
    moments = {name: _for_its_checker(moment) for name, moment in recording.moments.items()}
    content |= {"version": VERSION, "moments": moments, "ends": recording.ends}
    file.write_text(json.dumps(content), encoding="utf-8")


def _for_its_checker(moment: Any) -> Any:
    """Move parked messages to where the checker of version 0.1.0 looks for poison.

    That version itself does not look for them: they wait for an operator.
    """
    bucket = {
        re.sub(rf"^{PARKED}/[^/]+/", "quarantine/", key): body
        for key, body in moment["bucket"].items()
    }
    return {**moment, "bucket": bucket}


def read(file: Path) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    counts = {
        "items": sum(_items(kind, found) for kind, found in content["items"].items()),
        "messages": sum(_messages(queue, found) for queue, found in content["messages"].items()),
        "documents": sum(_documents(kind, found) for kind, found in content["documents"].items()),
    }
    for name, moment in content["moments"].items():
        _take_over(name, moment, content["ends"])
    emitted = ", ".join(f"{count} {name}" for name, count in counts.items())
    _say(f"  {VERSION} read what {content['version']} wrote: {emitted}")
    _say(f"  {VERSION} took over the stage of {content['version']} {len(content['moments'])} times")


def _items(kind: str, found: list[Any]) -> int:
    if kind in SINCE_RELEASED:
        return 0
    for item in found:
        said = read_item(kind, item)
        if kind == "event" and "_s3Overflow" not in item["properties"]["M"]:
            assert said["says"]["model"] != "dict", f"the event {item['eventType']} has no model"
    return len(found)


def _messages(queue: str, found: list[Any]) -> int:
    for sent in found:
        if isinstance(readable(sent["body"]), dict):  # the others are meant to be unreadable
            read_message(queue, sent)
    return len(found)


def _documents(kind: str, found: list[Any]) -> int:
    for document in found if kind not in OPAQUE else ():
        read_document(kind, document["key"], document["text"])
    return len(found)


def _take_over(name: str, moment: Any, ends: dict[str, str]) -> None:
    with silence(), contextlib.closing(Stage()) as stage, small_limits():
        stage.load(moment)
        stage.settle()
        assert not stage.bugs, (name, stage.bugs)
        for job, end in stage.ends().items():
            assert ends[job] in {end, "CANCELLED"}, f"{name}: {job} ended as {end}, not {ends[job]}"


def compare(old: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree = extracted(old, folder / "old")
        lend_suite(tree)
        _say(f"Today's sources and {old[:12]}, each with what the other wrote:")
        for writer, reader in ((ROOT, tree), (tree, ROOT)):
            file = folder / f"{writer.name}.json"
            python_in(writer, ["-m", "tests.compatibility.exchange", "write", str(file)])
            python_in(reader, ["-m", "tests.compatibility.exchange", "read", str(file)])


def lend_suite(tree: Path) -> None:
    """Give 0.1.0, which has no such suite, one that knows its names, from the history.

    The simulated AWS and its clock come with it; the version's own workers run in them. What the
    suites of two versions exchange is a file of items, messages and documents.
    """
    suite = RELEASED[-1].suite
    if suite is None:
        return
    with tempfile.TemporaryDirectory() as name:
        source = extracted(suite, Path(name))
        for lent in ("compatibility", "simulation/cloud", "simulation/kernel"):
            shutil.rmtree(tree / "tests" / lent, ignore_errors=True)
            shutil.copytree(source / "tests" / lent, tree / "tests" / lent)


def main(arguments: list[str]) -> int:
    match arguments:
        case ["write", file]:
            write(Path(file))
        case ["read", file]:
            read(Path(file))
        case _:
            try:
                compare(arguments[0] if arguments else last_released())
            except NoHistory as error:
                _say(str(error))
                return 1
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
