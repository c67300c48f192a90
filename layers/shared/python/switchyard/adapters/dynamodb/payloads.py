"""Inputs and outputs: small ones in the state table, larger ones in the bucket."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from switchyard.adapters.dynamodb.items import (
    DATA_PREFIX,
    JOB_SORT_KEY,
    data_key,
    job_from,
    job_key,
    json_text,
)
from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Update, key_item
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.errors import MissingBlob, MustNotStart, TooMuch
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.prompts.artifacts import input_key
from switchyard.domain.tasks.task import Json, Payload
from switchyard.ports import BlobStore

MAX_INLINE: Final = 4_000  # bytes, each: input, parents and output together stay within 12 KB

_KEYS: Final = frozenset(key_item(("", "")))
_PLACES: Final = ("input", "context", "depends_on", "files", "artifacts", "commitments", "output")
"""The parts of a payload that are in the item itself, or in the bucket if they are large."""
_ATTRIBUTES: Final = frozenset(
    {"when", "hold", "fan_out", "metadata", *_PLACES, *(f"{name}_key" for name in _PLACES)}
)

READ_AT_ONCE: Final = 8  # outputs, of 10 MB each at most


class DynamoDbPayloads:
    def __init__(self, table: DynamoDbTable, blobs: BlobStore) -> None:
        self._table = table
        self._blobs = blobs

    def new_item(self, ref: TaskRef, payload: Payload) -> Item:
        """The item of a task that has no output yet; what is large is in the bucket then."""
        return {
            **key_item(data_key(ref)),
            **self._given(ref, "input", payload.input),
            **(self._given(ref, "context", dict(payload.context)) if payload.context else {}),
            **self._given(ref, "depends_on", list(payload.depends_on)),
            **({"when": payload.when} if payload.when else {}),
            **({"hold": json_text(payload.hold)} if payload.hold is not None else {}),
            **(self._given(ref, "files", list(payload.files)) if payload.files else {}),
            **(self._given(ref, "artifacts", list(payload.artifacts)) if payload.artifacts else {}),
            **self._commitments(ref, payload),
            **({"fan_out": json_text(payload.fan_out)} if payload.fan_out is not None else {}),
            **({"scope": payload.scope} if payload.scope else {}),
            **({"metadata": dict(payload.metadata)} if payload.metadata else {}),
        }

    def _commitments(self, ref: TaskRef, payload: Payload) -> Item:
        """Nothing for a task without any: most have none."""
        given = list(payload.commitments)
        return self._given(ref, "commitments", given) if given else {}

    def write_of_new(self, ref: TaskRef, payload: Payload) -> tuple[Key, Update]:
        """Return the write that stores these data in place of all that the task had."""
        key = data_key(ref)
        item = {n: value for n, value in self.new_item(ref, payload).items() if n not in _KEYS}
        old = sorted(_ATTRIBUTES - item.keys())
        return key, Update(set=item, remove=old, condition="attribute_exists(#PK)")

    def read(self, ref: TaskRef) -> Payload:
        item = self._table.get(data_key(ref))
        return self._payload(item) if item else Payload()

    def read_to_start(self, ref: TaskRef) -> Payload:
        """The job is read in the same call: a check of its own would cost every task one more."""
        items = self._table.get_many([data_key(ref), job_key(ref.job)])
        by_kind = {item["SK"]: item for item in items}
        job = by_kind.get(JOB_SORT_KEY)
        if job and job_from(job, ref.tenant).being_cancelled:
            raise MustNotStart(ref.request_id)
        item = by_kind.get(data_key(ref)[1])
        return self._payload(item) if item else Payload()

    def read_what_is_left(self, ref: TaskRef) -> Payload:
        item = self._table.get(data_key(ref))
        return self._payload(item, self._load_what_is_left) if item else Payload()

    def read_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Payload]:
        items = self._table.get_many([data_key(ref) for ref in refs])
        payloads = self._table.parallel.each(self._payload, items)
        found = dict(zip(map(_task_id, items), payloads, strict=True))
        return {ref.task_id: found.get(ref.task_id, Payload()) for ref in refs}

    def outputs(
        self, job: JobRef, task_ids: Sequence[str], *, max_bytes: int | None = None
    ) -> Mapping[str, Json]:
        items = self._table.get_many([data_key(job.task(task_id)) for task_id in task_ids])
        by_task = {_task_id(item): item for item in items}
        made = [
            task_id
            for task_id in task_ids
            if task_id in by_task and {"output", "output_key"} & by_task[task_id].keys()
        ]
        outputs: dict[str, Json] = {}
        size = 0
        for start in range(0, len(made), READ_AT_ONCE):
            some = made[start : start + READ_AT_ONCE]
            texts = self._table.parallel.each(
                lambda task_id: self._text(by_task[task_id], "output") or b"null", some
            )
            size += sum(map(len, texts))
            if max_bytes is not None and size > max_bytes:
                raise TooMuch(max_bytes)
            outputs |= zip(some, map(json.loads, texts), strict=True)
        return outputs

    def _payload(self, item: Item, load: Callable[[Item, str], Json] | None = None) -> Payload:
        load = load or self._load
        return Payload(
            input=load(item, "input"),
            context=load(item, "context") or {},
            input_key=item.get("input_key"),
            output_key=item.get("output_key"),
            depends_on=tuple(load(item, "depends_on") or ()),
            output=load(item, "output"),
            when=item.get("when"),
            metadata=item.get("metadata", {}),
            hold=json.loads(item["hold"]) if "hold" in item else None,
            files=tuple(load(item, "files") or ()),
            artifacts=tuple(load(item, "artifacts") or ()),
            commitments=tuple(load(item, "commitments") or ()),
            fan_out=json.loads(item["fan_out"]) if "fan_out" in item else None,
            scope=item.get("scope"),
        )

    def _given(self, ref: TaskRef, name: str, value: Json) -> Item:
        text = json_text(value)
        if fits_inline(text):
            return {name: text}
        content = text.encode()
        key = input_key(ref.tenant, ref.request_id, hashlib.sha256(content).hexdigest())
        self._blobs.put(key, content, content_type="application/json")
        return {f"{name}_key": key}

    def _load_what_is_left(self, item: Item, name: str) -> Json:
        try:
            return self._load(item, name)
        except MissingBlob:
            return None

    def _load(self, item: Item, name: str) -> Json:
        text = self._text(item, name)
        return None if text is None else json.loads(text)

    def _text(self, item: Item, name: str) -> bytes | None:
        if f"{name}_key" in item:
            return self._blobs.get(item[f"{name}_key"])
        return str(item[name]).encode() if name in item else None


def _task_id(item: Item) -> str:
    return str(item["SK"]).removeprefix(DATA_PREFIX)


def fits_inline(text: str) -> bool:
    return len(text.encode()) <= MAX_INLINE


def write_of_output(ref: TaskRef, output: Item) -> tuple[Key, Update]:
    """Return the write that stores an output beside its task, which has data already."""
    return data_key(ref), Update(
        set=output,
        remove=sorted({"output", "output_key"} - output.keys()),
        condition="attribute_exists(#PK)",
    )
