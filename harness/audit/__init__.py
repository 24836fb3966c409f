"""Published numbers, checked against data and against each other."""
