"""What is held true: intervals of facts, their changes, their ageing, and views of them."""
