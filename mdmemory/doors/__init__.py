"""The doors: everything that prints, exits, reads the environment or asks the clock."""
