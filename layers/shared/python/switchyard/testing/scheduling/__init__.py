"""What schedules tasks, in memory."""
