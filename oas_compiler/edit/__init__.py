"""Changes of an author's own files.

fix/          `oasflow check --fix`
wire/         `oasflow wire-context`
unified.py    changes as a unified diff
"""
