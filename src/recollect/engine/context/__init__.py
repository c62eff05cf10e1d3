"""What an agent should read before it answers."""
