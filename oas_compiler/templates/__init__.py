"""Jinja templates in a document: placeholders, names and what a template needs.

reading.py   templates of a value, and values of the environment put into them
names.py     the names that a template uses
plain_language.py   templates of plain Agent Spec, written in the language of this project
"""
