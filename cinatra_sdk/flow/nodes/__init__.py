"""One module per kind of node: a record of what it does, and the function that does it.

The record is plain data (`NodeWork`); with what a host lends it makes a `NodeBody`.  Nothing here knows
of files.

deciding.py   what gates keep of a decision;  shown.py  what they show
"""
