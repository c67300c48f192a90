"""Eleven ways in which a queue makes trouble, each run with real workers and judged."""
