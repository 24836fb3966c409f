"""Whether a jury is fit: gold answers, and what a judge's scores of them show."""
