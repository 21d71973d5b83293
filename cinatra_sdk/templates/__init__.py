"""The language of templates: read, bounded and rendered.

language.py   the sandboxed environment;  budget.py  how much work a template may do
parts.py      simple templates without a parser;  reading.py  size and tree;  flaws.py  errors in words
environment.py  placeholders of the environment
rendering.py  templates over the state of a run;  urls.py  values in a path, each one segment
"""
