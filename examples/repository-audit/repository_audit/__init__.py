"""The code of a repository audit: sources are listed from an archive, and findings reported."""

from repository_audit.reports import write_report
from repository_audit.sources import list_sources

__all__ = ["list_sources", "write_report"]
