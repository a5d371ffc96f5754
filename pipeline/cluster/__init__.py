"""Reading and embedding on a Ray cluster: the driver alone writes, nodes answer calls."""
