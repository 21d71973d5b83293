"""JSON values, schemas, texts and templates, each within bounds.

json_values.py       the JSON values that a run may hold; strict reading of JSON text
author_json.py       JSON that an author wrote, frozen
json_paths.py        ways into a value, in jq's language
ports.py             `TypedPort`, one input or output of a node, its type and its JSON Schema
retry_policy.py      when an author wants a request repeated
sensitive_fields.py  the host's values in place of sensitive fields
version_ranges.py    npm's version ranges
work_budget.py       a counted budget of work, shared by schemas, patterns and templates
schema/              values checked against JSON Schema (Draft 2020-12), in counted steps
patterns/            regular expressions of authors, in bounded time
templates/           the language of templates: read, bounded and rendered
text/                texts and files, read strictly
"""
