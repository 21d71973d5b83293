"""Agents: a model, its tools and the people that it asks."""
