"""One module per kind of node: its function, which the record in kinds/ names."""
