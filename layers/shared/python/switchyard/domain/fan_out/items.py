"""The items of a fan-out: read from the list, each with its key and the input of its task."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.fan_out.fan_outs import MAX_ITEMS, FanOut
from switchyard.domain.fan_out.templates import INPUT, filled, named_part
from switchyard.domain.ids import ITEM_KEY, ITEM_KEY_RULE, LONGEST_ITEM
from switchyard.domain.json_values import kind_of
from switchyard.domain.prompts.references import (
    NotAReference,
    UnresolvedReference,
    as_text,
    reference_at,
    value_of,
)
from switchyard.domain.tasks.task import Json

MAX_CHARACTERS: Final = 20_000_000
"""The limit for the inputs of all items together."""
_SHOWN: Final = 40


class NotExpandable(ValueError):
    """The reason why no items can be made, in one sentence: the author's fault."""


@dataclass(frozen=True, slots=True)
class Item:
    keys: tuple[str, ...]
    input: Json

    def task_id(self, fan_out: str) -> str:
        return item_id(fan_out, self.keys)


@dataclass(frozen=True, slots=True)
class Items:
    each: tuple[Item, ...]
    shape: Json
    """The keys, in order: a list, or at two levels a list of pairs of a key and a list."""


def item_id(fan_out: str, keys: Iterable[str]) -> str:
    return fan_out + "".join(f"[{key}]" for key in keys)


def ids_in(shape: Json, fan_out: str) -> list[str]:
    """Return the ids of all items, in order."""
    return [item_id(fan_out, keys) for keys in _keys_in(shape)]


def folders_in(shape: Json) -> list[str]:
    """Return where the artifacts of each item are, below those of the fan-out, in order."""
    return ["/".join(keys) for keys in _keys_in(shape)]


def arranged(shape: Json, values: Iterator[Json]) -> Json:
    """Return the values of all items, which come in order, as the lists were."""
    return [
        next(values) if isinstance(one, str) else [next(values) for _ in one[1]] for one in shape
    ]


def _keys_in(shape: Json) -> Iterator[tuple[str, ...]]:
    for one in shape:
        if isinstance(one, str):
            yield (one,)
        else:
            yield from ((one[0], inner) for inner in one[1])


def items_of(
    fan_out: FanOut,
    template: Json,
    outputs: Mapping[str, Json],
    *,
    task_id: str,
    in_file: Sequence[Json] = (),
) -> Items:
    """Read the list, or the lists, and fill the template for each item. Raise `NotExpandable`.

    `in_file` is the list of a fan-out that names a file.
    """
    try:
        return _Reading(fan_out, template, outputs, task_id, in_file).items()
    except (UnresolvedReference, NotAReference) as problem:
        raise NotExpandable(str(problem)) from problem


class _Reading:
    def __init__(
        self,
        fan_out: FanOut,
        template: Json,
        outputs: Mapping[str, Json],
        task_id: str,
        in_file: Sequence[Json],
    ) -> None:
        self._fan_out = fan_out
        self._given = template
        self._template = without_list(template, fan_out.for_each[0])
        self._outputs = outputs
        self._task_id = task_id
        self._in_file = list(in_file)
        self._characters = 0
        self._each: list[Item] = []

    def items(self) -> Items:
        first, *second = self._fan_out.for_each
        outer = _few_enough(first, _list_of(first, self._first_list(first)))
        shape = self._pairs(outer, second[0]) if second else self._level(outer, 0, {}, ())
        return Items(tuple(self._each), shape)

    def _pairs(self, outer: Sequence[Json], text: str) -> list[list[Json]]:
        """Read the list of each item of the first list."""
        pairs: dict[str, list[str]] = {}
        for number, value in enumerate(outer):
            known = {"item": value, "index": number}
            inner = _list_of(text, named_part(text).value(known))
            key = self._key(0, known, number, pairs)
            around = {"outer": value, "outerIndex": number}
            pairs[key] = self._level(inner, 1, around, (key,))
        return [[key, inner] for key, inner in pairs.items()]

    def _first_list(self, text: str) -> Json:
        if self._fan_out.in_file:
            return self._in_file
        if text.startswith(f"${{{INPUT}"):
            return named_part(text).value({INPUT: self._given})
        return value_of(reference_at(text, 0), self._outputs)

    def _level(
        self,
        values: Sequence[Json],
        level: int,
        around: Mapping[str, Json],
        above: tuple[str, ...],
    ) -> list[str]:
        _few_enough(self._fan_out.for_each[level], values, more=len(self._each))
        keys: dict[str, None] = {}
        for number, value in enumerate(values):
            known = {**around, "item": value, "index": number}
            key = self._key(level, known, number, keys)
            keys[key] = None
            self._add((*above, key), known)
        return list(keys)

    def _add(self, keys: tuple[str, ...], known: Mapping[str, Json]) -> None:
        item = Item(keys, filled(self._template, known))
        name = item.task_id(self._task_id)
        if len(name) > LONGEST_ITEM:
            raise NotExpandable(
                f"key: {_shown(name)} has {len(name)} characters; an item's id has at most "
                f"{LONGEST_ITEM}, with that of its task"
            )
        self._characters += len(as_text(item.input))
        if self._characters > MAX_CHARACTERS:
            raise NotExpandable(
                f"input: those of all items have more than {MAX_CHARACTERS:,} characters; let each "
                "refer to what it needs instead"
            )
        self._each.append(item)

    def _key(
        self, level: int, known: Mapping[str, Json], number: int, taken: Mapping[str, object]
    ) -> str:
        if not self._fan_out.key:
            return str(number)
        text = self._fan_out.key[level]
        value = filled(text, known)
        key = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(key, str) or not ITEM_KEY.fullmatch(key):
            raise NotExpandable(
                f"key: {text} is {_shown(as_text(value))} for item {number:,}; a key is "
                f"{ITEM_KEY_RULE}"
            )
        if key in taken:
            raise NotExpandable(f"key: {text} is {key!r} for two items; each needs one of its own")
        return key


def without_list(template: Json, for_each: str) -> Json:
    """Return what the items are given of an input that contains the list: all but that member."""
    if not for_each.startswith(f"${{{INPUT}") or not isinstance(template, dict):
        return template
    steps = named_part(for_each).steps
    return {name: value for name, value in template.items() if name not in steps[:1]}


def _list_of(text: str, value: Json) -> Sequence[Json]:
    if not isinstance(value, list):
        raise NotExpandable(f"forEach: {text} is {kind_of(value)}, and must be a list")
    return value


def _few_enough(text: str, values: Sequence[Json], *, more: int = 0) -> Sequence[Json]:
    if len(values) + more > MAX_ITEMS:
        raise NotExpandable(
            f"forEach: {text} has {len(values) + more:,} items; a fan-out makes at most "
            f"{MAX_ITEMS:,}: split the list, or let an item stand for several"
        )
    return values


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
