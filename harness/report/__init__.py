"""One self-contained page about a study: what a replay found, as tables, figures and transcripts."""
