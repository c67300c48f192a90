"""Events too large for the bus: the one place that moves their large fields out and back."""

import json
from collections.abc import Mapping
from typing import Any, Final

from switchyard.contracts.events import FREE_FORM, OVERFLOW
from switchyard.domain.errors import MissingBlob
from switchyard.ports import BlobStore

MAX_DETAIL_BYTES: Final = 200_000  # PutEvents takes 256 KB, DynamoDB's items 400

Fields = dict[str, Any]


class EventOverflow:
    def __init__(self, blobs: BlobStore, bucket: str) -> None:
        self._blobs = blobs
        self._bucket = bucket

    def detail_text(self, detail: Mapping[str, Any]) -> str:
        """The detail as JSON that fits; what did not is in the bucket by then."""
        text = _json(detail)
        if len(text.encode()) <= MAX_DETAIL_BYTES:
            return text
        return _json({**detail, "properties": self._moved_out(detail)})

    def put_back(self, properties: Mapping[str, Any]) -> Fields:
        """What was moved out, in its place again. What has expired leaves its address behind."""
        if OVERFLOW not in properties:
            return dict(properties)
        try:
            moved: Fields = json.loads(self._blobs.get(properties[OVERFLOW]["key"]))
        except MissingBlob:
            return dict(properties)
        return {name: value for name, value in properties.items() if name != OVERFLOW} | moved

    def _moved_out(self, detail: Mapping[str, Any]) -> Fields:
        properties = detail["properties"]
        large = {name: properties[name] for name in FREE_FORM if name in properties}
        key = f"events/{detail['entityId']}/{detail['eventId']}-payload.json"
        self._blobs.put(key, _json(large).encode(), content_type="application/json")
        small = {name: value for name, value in properties.items() if name not in large}
        return small | {OVERFLOW: {"bucket": self._bucket, "key": key}}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
