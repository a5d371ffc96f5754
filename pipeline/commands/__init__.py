"""One file a verb or family of verbs: parse, open the workspace, run a stage, print the answer."""
