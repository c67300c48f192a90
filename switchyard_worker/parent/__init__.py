"""The worker's own process, and the programs that it starts beside its children.

`receive/` takes messages and settles tasks, `attempts/` runs an attempt from its data to its
verdict, `supervision/` starts and ends child processes, `files/` isolates and removes what they
write, `health/` watches the worker and its machine, `claude/` gives attempts access to Claude.
"""
