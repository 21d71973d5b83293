"""JSON values: strict, bounded, checked against schemas, and made up from them.

author_json.py       what flows between nodes: types, ports, JSON as an author wrote it
json_paths.py        ways into a value, in jq's language
json_values.py       what is JSON
port_schemas.py      JSON Schemas of inputs and outputs, from ports; what a schema says of the
                     fields that a person fills in
ports.py             what flows between nodes: types, ports, JSON as an author wrote it; how a
                     file refers to what stands elsewhere
retry_policy.py      when a request is repeated, as an author wrote it
sensitive_fields.py  sensitive fields: names in a file, values of the host
version_ranges.py    version ranges of npm
work_budget.py       one budget of work for all of them
schema/              checking a value against an author's JSON Schema (Draft 2020-12), in counted
                     steps
templates/           the language of templates: read, bounded and rendered
text/                texts and files: read strictly, within bounds
patterns/                       regular expressions in linear time
"""
