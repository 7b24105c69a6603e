"""Search on a PostgreSQL server."""
