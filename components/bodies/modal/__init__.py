"""Flexible bodies by their modes, on a floating frame."""
