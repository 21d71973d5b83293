"""Agents: a model that calls tools until it has an answer, as nodes of a flow.

step.py        one question to the model, with the conversation and the tools
calls.py       the calls that it asks for, one after the other, then back to it
offered.py     a tool as a model is told of it;  seeing.py  the conversation as a model sees it
shortening.py  summaries in place of what is too long
"""
