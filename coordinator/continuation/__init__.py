"""Simulations that go on from others, or repeat them: from a checkpoint, from a run folder, under other settings."""
