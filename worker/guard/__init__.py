"""Computes on tenants' data in processes that can be ended: one per check, with limits.

`examine` says what is wrong with a document, `process` is the program that forks for each check,
`client` asks it from the worker's event loop, `blocking` from a task's child.
"""
