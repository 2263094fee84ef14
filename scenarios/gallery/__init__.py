"""The figures of chapter VI of the thesis, drawn again: with its settings and with ours.

Séguy 2003, VI. One file per family of figures; `figures.py` is their table, `runs.py` simulates what they share once.
"""
