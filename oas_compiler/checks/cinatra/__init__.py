"""The rules of Cinatra's validator and compiler: S1 to S10, V1 to V31, W1, P1, P2, C1 to C4.

Elsewhere, because they hold for any flow: V13 (OAS010), V15 (OAS040), C2 (OAS041), and V17 and V18
in checks/safety/.  Three modules are no rules but are shared by rules: `bridge_nodes`,
`bare_placeholders` and `metadata_keys`.
"""
