"""Lets a worker that was started with this folder on its PYTHONPATH look at its deployment every
second instead of every minute.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

SECONDS: Final = 1.0


class PatchWhenImported(MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != "switchyard_worker.parent.receive.rollout":
            return None
        spec = PathFinder.find_spec(name, path, target)
        assert spec is not None
        loader: Any = spec.loader
        load = loader.exec_module

        def load_and_patch(module: ModuleType) -> None:
            load(module)
            module.__dict__["SECONDS_BETWEEN_LOOKS"] = SECONDS

        loader.exec_module = load_and_patch
        return spec


sys.meta_path.insert(0, PatchWhenImported())
