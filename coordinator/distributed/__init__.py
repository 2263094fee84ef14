"""Runs that several processes share: the protocol, workers, how they talk, where they come from."""
