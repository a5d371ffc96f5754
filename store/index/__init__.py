"""The index: words and vectors of documents, rebuildable at any time, so never the only copy."""
