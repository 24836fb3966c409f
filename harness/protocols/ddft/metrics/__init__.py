"""Metrics of a subject, from judged turns."""
