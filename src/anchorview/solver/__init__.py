"""Solvers of the FSSMSC problem: they know arrays, never estimators."""
