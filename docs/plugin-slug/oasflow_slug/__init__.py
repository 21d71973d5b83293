"""Kinds of nodes for oasflow: SlugNode and LengthNode."""
