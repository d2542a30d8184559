"""Labels as people gave them: a file that nothing gets lost from, and what it amounts to."""
