"""Measurements of oasflow, as ratios in one run: `python -m benchmarks check|compile|steps|context|all`."""
