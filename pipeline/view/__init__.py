"""Evidence as pages to look at: HTML from packs and objects, without a script in it."""
