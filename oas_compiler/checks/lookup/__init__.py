"""What several rules look up: credentials, calls, edges, flaws of values.

written_credentials.py  what no command prints; how certain a name is
one_time_codes.py       one-time codes, PINs and codes of cards, by their names
credentials.py          literal credentials in texts; under a telling name; those of programs
api_calls.py            classes of templated addresses; the ApiNodes that call the host's model
                        bridge; the inputs that the host's pattern finds in the texts of an
                        ApiNode
child_agents.py         the child agents that a flow calls
renderers.py            the screens that a flow names
edges.py                are no rules; rules share them; reversed edges, whose ends were confused;
                        data edges from nodes that never run before
value_flaws.py          flaws of values, apart from their reports; flaws of JSON Schemas; the
                        library's verdict; the keys of `metadata.cinatra` that are probably
                        misspelt
program_calls.py        where they call LangGraph's interrupt; what scripts use
"""
