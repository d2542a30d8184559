"""Files in: tables and matrices of every kind, read as views, ids and labels."""
