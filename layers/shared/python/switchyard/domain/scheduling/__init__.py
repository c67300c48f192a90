"""Who runs which tasks: groups of work queues, and the pools of workers that subscribe to them."""
