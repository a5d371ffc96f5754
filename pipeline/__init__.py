"""What happens, in order: the stages, recall, and the command line that joins them."""
