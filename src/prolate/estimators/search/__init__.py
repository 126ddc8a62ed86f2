"""What must be known of the rows before they are summed: where they are, and how spread."""
