"""Which value has a wanted rank: counts in cells that are cut where it may be."""
