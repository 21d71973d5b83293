"""The language of templates: read, bounded and rendered.

environment_names.py  placeholders of the environment
flow_templates.py     templates over the state of a run
language.py           the sandboxed environment
parser.py             size and tree; errors in words
simple_templates.py   simple templates without a parser
template_budget.py    how much work a template may do
urls.py               values in a path, each one segment
"""
