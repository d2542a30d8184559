"""Tables, figures and pages, for the bench and the command."""
