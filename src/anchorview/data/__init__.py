"""What users hand in: views, their rows, labels, and the errors on the way."""
