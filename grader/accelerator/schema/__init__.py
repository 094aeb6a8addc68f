"""What is known of an operator before it runs."""
