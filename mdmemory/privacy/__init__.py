"""What is private or secret in a text, and how it is taken out. Knows text alone."""
