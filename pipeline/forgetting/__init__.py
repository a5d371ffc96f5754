"""Forgetting, as a command does it: choose, plan, hide or erase, check, and give a receipt."""
