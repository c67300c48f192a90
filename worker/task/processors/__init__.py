"""One module per family of processes; `worker/task/processing.py` says how to add one."""
