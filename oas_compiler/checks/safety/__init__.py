"""Dangers in every flow: sends without a gate, leaked secrets, endless loops."""
