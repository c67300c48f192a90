"""Plain Python values, and what DynamoDB makes of them on the wire."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

Item = dict[str, Any]

_serialize: Final = TypeSerializer().serialize
_deserialize: Final = TypeDeserializer().deserialize


def serialized(item: Mapping[str, Any]) -> Item:
    return {name: _serialize(_storable(value)) for name, value in item.items()}


def deserialized(item: Mapping[str, Any]) -> Item:
    return {name: _plain(_deserialize(value)) for name, value in item.items()}


def _storable(value: Any) -> Any:
    match value:
        case float():
            return Decimal(str(value))
        case frozenset():
            return set(value)
        case dict():
            return {name: _storable(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_storable(inner) for inner in value]
    return value


def _plain(value: Any) -> Any:
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
    return value
