"""Flexible beams: slices with a place and a turning each."""
