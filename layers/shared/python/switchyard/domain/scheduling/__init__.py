"""Decides which worker runs which task: work queues, their groups, and the pools of workers."""
