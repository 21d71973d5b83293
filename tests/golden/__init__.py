"""What the compiler says of flows, kept: README.md of this folder."""
