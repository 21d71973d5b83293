"""Findings as other programs read them.  In: `Finding`s.  Out: plain data or text.

diagnostics.py  all findings of one run, and the exception that carries them; what messages quote
                of a document, without its credentials; hints about a YAML file, written as YAML
formats.py      records with code, rule, place and hint, and their counts; SARIF 2.1.0, for code
                scanning; workflow commands, which a GitHub job turns into annotations
source_text.py  the lines that findings point at, credentials left out; files as paths and URIs,
                relative to the working directory; a literal credential as its kind and stars;
                where they stand
rule_cards.py   which findings are wanted: --select and --ignore; the cards of rules as JSON;
                docs/diagnostics.md, made of the cards: `rules_document()` -> its whole text
"""
