"""The language of templates: read, bounded and rendered.

language.py   the sandboxed environment;  budget.py  how much work a template may do
parts.py      a text in its placeholders and what stands between;  reading.py flaws.py  what is wrong with it
rendering.py  templates over the state of a run;  urls.py  values in a path, each one segment
"""
