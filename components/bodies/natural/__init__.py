"""Rigid bodies in natural coordinates: points and directions fixed to them."""
