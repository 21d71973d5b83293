"""Literal credentials in a file: where they stand, and a document with these covered.

credential_literals.py  the one rule by which every command decides which text it prints
credential_names.py     names of credentials, by how certain that is; of one-time codes and PINs
value_shapes.py         literal credentials in texts, under names, among arguments of programs
credential_cover.py     a document with its credentials covered
"""
