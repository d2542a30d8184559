"""Views → scaled rows → landmarks → E = X Uᵀ."""
