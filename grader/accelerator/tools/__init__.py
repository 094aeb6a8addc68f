"""Programs around the device: the launcher, child processes, virtual time, costs by line."""
