"""Ready systems: one file each, found by its name."""
