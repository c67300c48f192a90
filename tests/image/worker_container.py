"""The worker's container, started as the task definition says, on a local cloud."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.image.container import Container, running
from tests.image.deployment import Deployment
from tests.image.runtime_spec import runtime_spec
from tests.image.volumes import fargate_volume

FROM_THE_STAGE = ("OUTPUT_FOLDER", "DELETE_FILES_AFTER_UPLOAD")
"""Variables that the local stage fills for a worker that is no container."""


@dataclass(frozen=True)
class WorkerContainers:
    deployment: Deployment
    image: Mapping[str, Any]
    """The image's configuration."""
    root: Path
    folder: Path
    _numbers: Iterator[int] = field(default_factory=count)

    def environment(self, deployed: Mapping[str, str]) -> dict[str, str]:
        """Return the image's variables, then those of the task definition."""
        of_the_image = dict(entry.split("=", 1) for entry in self.image["Env"])
        stage = {name: self.deployment.variables[name] for name in FROM_THE_STAGE}
        return {**of_the_image, **deployed, **stage}

    @contextmanager
    def started(
        self, deployed: Mapping[str, str], *, volumes: Mapping[str, Path] | None = None
    ) -> Iterator[Container]:
        """Run the image's command. `volumes` are used in place of those of Fargate, by path."""
        folder = self.folder / f"container-{next(self._numbers)}"
        folder.mkdir()
        try:
            with running(
                f"switchyard-{self.folder.name}-{folder.name}",
                self._spec(deployed, {**self.volumes(folder), **(volumes or {})}),
                folder / "bundle",
            ) as container:
                yield container
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def volumes(self, folder: Path) -> dict[str, Path]:
        """Make the volumes of the task definition, by the path at which they are mounted."""
        return {
            path: fargate_volume(
                folder / path.strip("/").replace("/", "-"),
                path,
                root=self.root,
                declared=self.image.get("Volumes") or {},
            )
            for path in self.deployment.volumes
        }

    def _spec(self, deployed: Mapping[str, str], volumes: Mapping[str, Path]) -> dict[str, Any]:
        return runtime_spec(
            root=self.root,
            arguments=[*self.image["Entrypoint"], *self.image["Cmd"]],
            folder=self.image["WorkingDir"],
            environment=self.environment(deployed),
            capabilities=self.deployment.capabilities,
            read_only=self.deployment.container["ReadonlyRootFilesystem"],
            volumes=volumes,
        )
