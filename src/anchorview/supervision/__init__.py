"""What users know about rows: labels, pairs, groups and weights."""
