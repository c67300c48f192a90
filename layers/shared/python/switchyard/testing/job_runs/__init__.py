"""Runs a whole job in one process: the real use cases over the in-memory twins.

Agents answer as a test scripts them, code tasks run for real, and waiting costs no time.
"""
