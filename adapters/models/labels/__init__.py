"""Labels of pictures by a packaged classifier: its weights, its graph, its words."""
