"""Requests as a person reads them in a timeline."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

_SHOWN: Final = ("state", "fence", "attempt", "owner", "run", "waiting_on", "due_at_ms")

Request = Mapping[str, Any]


def described(name: str, request: Request, answer: Any = None) -> str:
    """`answer` is `None` for a request that had none."""
    describe = _DESCRIBE.get(name)
    if describe is None:
        return name.replace("_", " ")
    return describe(request, answer or {}).strip()


def _get(request: Request, answer: Request) -> str:
    return f"get {_place(request['Key'])} {_facts(answer.get('Item', {}))}"


def _update(request: Request, answer: Request) -> str:
    return f"update {_place(request['Key'])} {_facts(answer.get('Attributes', {}))}"


def _put(request: Request, _answer: Request) -> str:
    return f"put {_place(request['Item'])}"


def _transaction(request: Request, _answer: Request) -> str:
    entries = [next(iter(entry.values())) for entry in request["TransactItems"]]
    return f"transaction of {_list(_place(e.get('Key') or e['Item']) for e in entries)}"


def _query(request: Request, answer: Request) -> str:
    return f"query {request.get('IndexName', 'table')}: {len(answer.get('Items', ()))} found"


def _events(request: Request, _answer: Request) -> str:
    details = [json.loads(entry["Detail"]) for entry in request["Entries"]]
    return f"tell {_list(map(_emitted, details))}"


def _send(request: Request, _answer: Request) -> str:
    return f"send {_list(_named(entry['MessageBody']) for entry in request['Entries'])}"


def _receive(_request: Request, answer: Request) -> str:
    return f"receive {_list(_named(message['Body']) for message in answer.get('Messages', ()))}"


def _object(request: Request, _answer: Request) -> str:
    return f"object {request['Key']}"


_DESCRIBE: Final[Mapping[str, Callable[[Request, Request], str]]] = {
    "get_item": _get,
    "update_item": _update,
    "put_item": _put,
    "transact_write_items": _transaction,
    "query": _query,
    "put_events": _events,
    "send_message_batch": _send,
    "receive_message": _receive,
    "put_object": _object,
    "get_object": _object,
}


def _place(key: Request) -> str:
    return f"{key['PK']['S'][-4:]}/{key['SK']['S']}"


def _facts(item: Request) -> str:
    facts = {name: next(iter(item[name].values())) for name in _SHOWN if name in item}
    return " ".join(f"{name}={_plain(value)}" for name, value in facts.items())


def _plain(value: Any) -> str:
    return ",".join(sorted(value)) if isinstance(value, list) else str(value)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"


def _named(body: str) -> str:
    try:
        return _short(json.loads(body)["requestId"])
    except (ValueError, KeyError):  # poison, or a task of another producer
        return repr(body[:80])


def _short(entity: str) -> str:
    """The end of the job's id tells jobs apart well enough."""
    job, separator, task = entity.partition("__")
    return f"{job[-4:]}/{task}" if separator else entity[-4:]


def _emitted(detail: Request) -> str:
    return f"{detail['eventType']} of {_short(detail['entityId'])}"
