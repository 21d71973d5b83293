"""Measurements of oasflow, as ratios in one run: `python -m benchmarks compile|steps|all`."""
