"""kernelbook against what a reader would pick instead."""
