"""Starts, watches and ends child processes and all that they start."""
