"""Findings about a file.

finding.py  `Finding`, its fix, and the collection of all findings; the nearest known spelling
rule.py     a rule of `oasflow check` and its card
"""
