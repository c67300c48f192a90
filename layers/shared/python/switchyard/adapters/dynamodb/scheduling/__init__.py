"""What schedules tasks, in the state table."""
