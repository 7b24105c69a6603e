"""Git: a folder changes as one commit or not at all."""
