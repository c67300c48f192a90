"""Shows what changes again and again, until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from switchyard_cli.terminal import print_json, print_json_line, results

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console, RenderableType

    from switchyard.ports import Clock

SECONDS_BETWEEN_LOOKS: Final = 5.0

T = TypeVar("T")
Show = Callable[[T], None]


def show_once(
    found: T,
    *,
    as_json: bool,
    view: Callable[[T], BaseModel],
    render: Callable[[T], RenderableType],
) -> None:
    if as_json:
        print_json(view(found))
    else:
        results().print(render(found))


def show_repeatedly(
    look: Callable[[], T],
    *,
    as_json: bool,
    view: Callable[[T], BaseModel],
    render: Callable[[T], RenderableType],
    clock: Clock,
) -> None:
    """Redraw in place on a terminal; print a line of JSON for each look if that is asked for."""
    try:
        with _display(results(), as_json=as_json, view=view, render=render) as show:
            while True:
                show(look())
                clock.sleep(SECONDS_BETWEEN_LOOKS)
    except KeyboardInterrupt:
        return  # there is no other end


@contextmanager
def _display(
    console: Console,
    *,
    as_json: bool,
    view: Callable[[T], BaseModel],
    render: Callable[[T], RenderableType],
) -> Iterator[Show[T]]:
    from rich.live import Live  # noqa: PLC0415 - help needs no Rich

    if as_json:
        yield lambda found: print_json_line(view(found))
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            yield lambda found: live.update(render(found), refresh=True)
    else:
        yield lambda found: console.print(render(found), end="\n\n")
