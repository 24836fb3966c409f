"""The only place that wires things together: record, replay, verify."""
