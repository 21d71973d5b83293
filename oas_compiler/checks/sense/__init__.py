"""Obvious mistakes: values that never arrive, names without effect, messages that break.

schema_contradiction.py     A schema of an input, an output or a gate does not contradict itself,
                            and has no misspelt keyword; contradictions within one schema, without
                            its subschemas
call_address.py             the address of a call is one that can be called
component_unused.py         every component that a flow defines is used by it
default_ignored.py          A run uses the default that the flow's input declares
edge_never_carries.py       every data edge can carry something: its source can run before its
                            destination
edge_twice.py               no data edge repeats or crosses another data edge
input_fed_too_late.py       an input that must have a value gets it from a node that can run
                            before
key_is_id.py                A node that is defined under a name has that name as its id
message_not_json.py         A message that is written as JSON stays JSON with every value
metadata_names.py           the names in the metadata of a flow exist
pattern_in_slashes.py       A regular expression is written as a text, without the slashes and
                            flags of JavaScript
platform_address.py         addresses of the platform are spelt correctly
platform_body.py            the body of a platform call has the keys that its route reads
platform_placeholder.py     the placeholder for the platform's address is spelt so that a host
                            fills it in
platform_values.py          the values in a platform call have the types that its route reads
property_key.py             no key of an input or output is a misspelling of a known key
rules.py                    the rules of this group, in reading order
run_id_unbound.py           A call, a trigger and a child flow get the id of the run, from the
                            StartNode
schema_required_unknown.py  the required properties of a schema are among its properties
"""
