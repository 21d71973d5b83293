"""Findings about a file.

finding.py  `Finding`, its fix, and the collection of all findings; the nearest known spelling;
            JSON values in words
rule.py     a rule of `oasflow check` and its card
"""
