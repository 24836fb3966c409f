"""What a study says as a whole."""
