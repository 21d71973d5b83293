"""The routes of a served platform, tried by Schemathesis over HTTP, in an environment of its own.

run.py      starts the platform with a run and a model, lets Schemathesis try every route, reads its report
lent.py     what the platform's process lends: the model, which answers everything with `{}`
rules.py    what must hold for every answer, and bodies that reach the tools; loaded by Schemathesis

Schemathesis needs other versions of packages than the project has, so `./scripts/fuzz-routes` puts it
beside: see docs/decisions.md.
"""
