"""Stores what an attempt leaves: its result for as long as it takes, the rest at best."""

from dataclasses import replace
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard.observability import get_logger
from worker.folder import TaskFolder
from worker.redaction import Redaction
from worker.upload import Uploader
from worker.verdict import Completed, Conclusion, Failed

logger = get_logger("worker")

RESULT_ROUNDS: Final = 12
LONGEST_PAUSE_SECONDS: Final = 30.0


class AttemptFiles:
    def __init__(
        self, ports: WorkerPorts, redaction: Redaction, *, counted: Usage | None = None
    ) -> None:
        self._ports = ports
        self._uploader = Uploader(ports, redaction, counted=counted)

    async def stored(self, verdict: Conclusion, folder: TaskFolder, *, prefix: str) -> Conclusion:
        """Completed only once the result is durable; the rest is true without its files too."""
        completed = isinstance(verdict, Completed)
        if isinstance(verdict, Completed):
            try:
                await self._store_result(verdict, prefix)
            except Unavailable as outage:
                return _lost(verdict, outage)
        try:
            uploaded = await self._uploader.upload(folder, prefix=prefix, completed=completed)
        except Unavailable as outage:
            logger.warning("files are not uploaded", extra={"key": prefix, "error": str(outage)})
            uploaded = False
        return replace(verdict, artifacts=prefix) if uploaded or completed else verdict

    async def _store_result(self, verdict: Completed, prefix: str) -> None:
        """For minutes, if need be: it was paid for, and the lease is renewed meanwhile."""
        for _ in range(RESULT_ROUNDS - 1):
            try:
                return await self._uploader.upload_result(verdict.output, prefix=prefix)
            except Unavailable as outage:
                fields = {"key": prefix, "error": str(outage)}
                logger.warning("result is not uploaded yet", extra=fields)
            await self._ports.sleep(self._ports.randomness.between(0, LONGEST_PAUSE_SECONDS))
        return await self._uploader.upload_result(verdict.output, prefix=prefix)


def _lost(completed: Completed, outage: Unavailable) -> Failed:
    return Failed(
        category=FailureCategory.NETWORK,
        error=f"its result could not be uploaded: {outage}",
        usage=completed.usage,
        duration_ms=completed.duration_ms,
        exit_code=0,
    )
