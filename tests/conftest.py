"""Linear algebra on one thread, as the command has it: matrices are small, and tests run side by side."""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
