"""Linear algebra on one thread, as the command has it: matrices are small, and tests run side by side."""

import os
import signal

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as where a shell has started us in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
