"""Many ticks at once: the loops of all stacks, driven by one compiled function."""
