"""A kind of node for oasflow: SlugNode makes a text fit for an address."""
