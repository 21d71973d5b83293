"""JSON values: strict, bounded, checked against schemas, and made up from them.

types.py ports.py json_text.py   what flows between nodes: types, ports, JSON as an author wrote it
port_schemas.py                 JSON Schemas of inputs and outputs, from ports
version_ranges.py               version ranges of npm
references.py                   how a file refers to what stands elsewhere
sensitive.py                    sensitive fields: names in a file, values of the host
json_values.py strict_json.py   what is JSON
json_schema.py validation/      JSON Schema: checks values, and schemas themselves
patterns/                       regular expressions in linear time
json_paths.py                   ways into a value, in jq's language
output_schema.py                the schema of an answer, from declared outputs
schema_fields.py                what a schema says of the fields that a person fills in
schema_sample.py pattern_sample.py   a value that a schema takes
retry_policy.py                 when a request is repeated, as an author wrote it
work.py                         one budget of work for all of them
"""
