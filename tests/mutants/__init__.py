"""Breaks real flows in ten thousand ways and looks at what `check` says about each.

    seeds       the real flows, packages and YAML files that are broken
    mutations   a seed and a number in, one mutant out; the same every time
    judge       one mutant in, what is wrong with the answer of `check` out
    worker      the child process that judges under a time and a memory limit
    runner      the parent: keeps workers, survives their death
    minimise    a failing mutant in, the smallest one that still fails out
    hostile     documents as large and as deep as a file may be
    controls    broken stand-ins for `check`, which the harness must see through

`python -m tests.mutants --count 10000 --seed 7` runs it with limits; `--help` says the rest.
"""
