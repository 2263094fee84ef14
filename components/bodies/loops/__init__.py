"""Loops over stacks of bodies that several kinds have alike, made from the kernels of each."""
