"""Agents: a model that calls tools until it has an answer, as nodes of a flow.

model_step.py   one question to the model, with the conversation and the tools; the conversation
                as a model sees it
summaries.py    summaries in place of long messages and long conversations
tool_calls.py   the calls that it asks for, one after the other, then back to it
tool_offers.py  the description of a tool, for a model
"""
