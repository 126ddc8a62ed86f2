"""How long rows are, privately, and what that tells: which radius is best, and what it cuts off."""
