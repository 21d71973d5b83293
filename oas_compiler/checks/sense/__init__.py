"""Obvious mistakes: values that never arrive, names without effect, messages that break."""
