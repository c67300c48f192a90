"""Errors because of which nothing was begun."""


class BadUsage(Exception):
    """A sentence for who asked: what cannot be, and what can."""
