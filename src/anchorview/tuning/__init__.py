"""Tuning without peeking: settings judged on labels that were hidden from them."""
