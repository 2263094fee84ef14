"""Ensembles: one model many times, with other numbers each."""
