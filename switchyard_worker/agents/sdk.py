"""The Claude Agent SDK, without the library with which a program serves tools of its own.

The SDK imports `mcp` for tools that run inside the importing program. A task's child has none: its
tools are those of Claude's command line. That library creates more than a thousand models when it
is imported, which takes a second of processor time, several times what all else takes.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

LEFT_OUT: Final = "mcp"


class NotServed:
    """Stands for every class of the library."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("a task's child serves no tools of its own")

    def __init_subclass__(cls, **_: Any) -> None:
        """Accept the options of a class, as the library's own classes do."""


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (NotServed,), {})


class _StandIns(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        if not _is_left_out(fullname):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty: what is asked of it is made on demand."""


def _is_left_out(module: str) -> bool:
    return module.partition(".")[0] == LEFT_OUT


@contextmanager
def _stand_ins() -> Iterator[None]:
    """Let imports find stand-ins within this block; a later import gets the real library."""
    if LEFT_OUT in sys.modules:
        yield
        return
    finder = _StandIns()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in filter(_is_left_out, list(sys.modules)):
            del sys.modules[name]


with _stand_ins():
    from claude_agent_sdk import (
        AssistantMessage,
        ClaudeAgentOptions,
        ClaudeSDKClient,
        ClaudeSDKError,
        CLINotFoundError,
        HookContext,
        HookInput,
        HookMatcher,
        Message,
        ResultError,
        ResultMessage,
    )
    from claude_agent_sdk.types import HookEvent, HookJSONOutput

__all__ = [
    "AssistantMessage",
    "CLINotFoundError",
    "ClaudeAgentOptions",
    "ClaudeSDKClient",
    "ClaudeSDKError",
    "HookContext",
    "HookEvent",
    "HookInput",
    "HookJSONOutput",
    "HookMatcher",
    "Message",
    "ResultError",
    "ResultMessage",
]
