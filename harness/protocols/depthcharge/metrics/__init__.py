"""Metrics of a run, from its probes."""
