"""The search for a method and parameters that suit a user's pairs: `stereopsis tune`."""
