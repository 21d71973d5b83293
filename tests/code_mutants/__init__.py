"""Breaks the code itself in small ways and looks at whether a test fails: are the tests able to?

    rooms       the folders that are broken, and the folders of tests that are looked through
    operators   a module's text in, every small change of it out
    sample      all changes and a seed in, those that are tried out: by module, safety lines first
    touched     the plugin that writes down which test runs which line of the rooms
    line_map    the tests that run a line, cheapest first, made again only where a file changed
    trial       one change in a copy of the tree, its tests in a forked process, the outcome
    swap        the change put into functions that are imported already
    server      one Postgres for all trials of a worker
    campaign    workers side by side, the controls, the tests that fail without any change
    judged      survivors that were looked at, each with its reason

`scripts/mutants` runs it; flows are broken by `tests.mutants`.
"""
