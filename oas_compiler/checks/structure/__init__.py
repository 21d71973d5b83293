"""Conditions of lowering: Agent Spec's rules for control edges, data edges, types and ports.

sendable_headers.py       every header that an ApiNode declares can be sent
allowed_components.py     every component that a flow uses is of a type that the host lets through
answer_schemas.py         every schema for a person's answer is a usable JSON Schema
castable_edges.py         the values of an output can become values of the input that it feeds
control_edge_nodes.py     A control edge joins two nodes of its flow
data_edge_nodes.py        A data edge joins two nodes of its flow
end_is_reachable.py       every run can end
end_node_has_edge.py      at least one control edge leads to every EndNode
every_branch_leads_on.py  every branch of every node leads to a node; `default` of a BranchingNode
                          is a branch
has_end_node.py           A flow has at least one EndNode
host_owned_names.py       no input of a flow has the name of a governed key
inputs_are_fed.py         every input without a default is fed by a data edge
known_branches.py         A control edge leaves by a branch that its node has
known_http_method.py      the http_method of an ApiNode is one that servers know
known_inputs.py           A data edge ends at an input that its node has
known_outputs.py          A data edge starts at an output that its node has
no_edge_into_start.py     nothing leads back into the StartNode: a run enters it once
no_edge_out_of_end.py     A run is over at an EndNode
node_is_reachable.py      A path leads from the StartNode to every node
one_edge_per_branch.py    one branch leads to one node: flows do not fan out by control edges
one_start_node.py         A flow has one StartNode
output_types_agree.py     an EndNode's value can become a value of the flow's output of that name
outputs_are_produced.py   every output of a flow comes from an EndNode, or has a default
outputs_at_every_end.py   an output that one of several EndNodes leaves out has a default
port_schemas.py           every input and output has a schema that values can be checked against
rules.py                  the rules of this group, in reading order
same_output_same_type.py  an output that several EndNodes give has one type
start_node_is_listed.py   `start_node` is the StartNode of the flow's nodes
supported_kinds.py        every component of the flow is of a kind that runs, and asks for nothing
                          that does not
tools_are_registered.py   every server tool of the flow is registered with the host
unique_node_ids.py        node ids are unique within a flow: edges, gates and the platform address
                          nodes by id
"""
