"""Orphans below this process become its children, instead of init's, so they can be found."""

import ctypes
import sys
from typing import Final

PR_SET_CHILD_SUBREAPER: Final = 36  # <linux/prctl.h>


def become_subreaper() -> None:
    """Only Linux can; elsewhere an orphan with a session of its own outlives its task."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
