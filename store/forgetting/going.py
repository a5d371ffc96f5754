"""What goes in a hard forget: rows by table, in ``temp.going`` while it is at work."""


def going(table: str) -> str:
    """Return the subquery of the numbers that go from a table."""
    return f"(SELECT seq FROM temp.going WHERE tbl = '{table}')"
