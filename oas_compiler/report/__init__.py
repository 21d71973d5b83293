"""Findings as other programs read them.  In: `Finding`s.  Out: plain data or text.

diagnostics.py  `Diagnostics`, all findings of one run; `CompileError`, which carries them
formats.py      JSON, SARIF 2.1.0, and annotations of GitHub
source_text.py  the lines that findings point at, and paths of files; credentials starred
rule_cards.py   --select and --ignore; the cards of rules as JSON; docs/diagnostics.md
"""
