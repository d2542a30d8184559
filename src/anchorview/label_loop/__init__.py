"""What a fitted model does between one label and the next: suggest, judge, update. No mathematics of its own."""
