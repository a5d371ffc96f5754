"""Take things out of a scope: hide them until asked back, or erase them for good.

A hard forget is one transaction of the ledger that deletes every row and notes, in ``erasure``,
what is left to do outside of it: files, index, the ledger's own free pages. Killed before the
commit, nothing has happened; killed after it, the next forget finishes the list. Only then is the
list itself deleted. Nothing in it is content: it holds ids, and goes with them.
"""
