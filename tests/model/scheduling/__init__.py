"""A second model: tokens, the ready index and limits, with few tasks and workers.

A wake-up is a token: its task is a hint. What the other model leaves out is part of a state here:
the messages of each pool, what the index shows, and who has a place of a limit. Every write is a
transition of the domain.
"""
