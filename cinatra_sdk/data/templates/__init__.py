"""The language of templates: read, bounded and rendered.

flow_templates.py   text and nested JSON with placeholders, rendered with the values of a node
language.py         the part of Jinja that templates may use, and its sandbox
parser.py           a template -> its tree, after its size was counted; flaws in words
placeholders.py     placeholders of the environment; common templates, taken apart without a parser
template_budget.py  the cost of rendering, counted
"""
