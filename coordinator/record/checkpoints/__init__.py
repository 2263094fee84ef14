"""Checkpoints: a simulation on disk as it stands, from which it goes on to the same bits."""
