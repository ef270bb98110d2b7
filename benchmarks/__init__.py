"""kernelbook against what a reader would pick instead."""

import os

# Before NumPy is imported: its BLAS reads these once.
for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
