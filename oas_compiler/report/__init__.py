"""Findings as other programs read them.  In: `Finding`s.  Out: plain data or text.

json_report.py    records with code, rule, place and hint, and their counts
sarif.py          SARIF 2.1.0, for code scanning
github.py         workflow commands, which a GitHub job turns into annotations
selection.py      which findings are wanted: --select and --ignore
source_text.py    the lines that findings point at, credentials left out
masking.py        a literal credential as its kind and stars;  written_secrets.py  where they stand
quoting.py        what messages quote of a document, without its credentials
yaml_hints.py     hints about a YAML file, written as YAML
diagnostics.py    all findings of one run, and the exception that carries them
rule_card.py      the cards of rules as JSON
file_names.py     files as paths and URIs, relative to the working directory
"""
