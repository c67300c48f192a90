"""Routes wake-ups to pools, and lets operators change what pools subscribe to."""
