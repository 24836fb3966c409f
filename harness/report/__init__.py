"""One self-contained page about a study: verdict, tables, figures, transcripts."""
