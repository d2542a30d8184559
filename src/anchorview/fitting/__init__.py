"""One fit, as functions that need no estimator: what is given, what to do, and the stages in their order."""
