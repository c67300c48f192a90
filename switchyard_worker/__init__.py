"""The worker: it receives tasks and runs each attempt in a child process.

`parent/` is the worker itself, which holds the credentials. `child/` and `agents/` run in a process
per attempt, which an agent may have talked into anything. `boundary.py` is all that both sides
share, and `guard/` a program that both start to check tenants' data.
"""
