"""Context slots: their declaration, the FlowNode that resolves each, and what it feeds."""
