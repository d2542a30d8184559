"""Rows of one view wherever they are kept: one small file per kind of store."""
