"""Agents: a model that calls tools until it has an answer, as nodes of a flow."""
