"""Studies: one scenario run many times, with other steps and other couplings, each held against one reference.

A study is a grid of cases (`grid.py`). Each case runs alone (`cases.py`), in a process of its own where there are several
(`pool.py`), and leaves a small file behind as soon as it is done, so that an interrupted study goes on where it stopped.
What comes out is read by `fit.py`, `pictures.py` and `report.py`.
"""
