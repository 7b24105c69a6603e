"""Finding what a question asks for: text into chunks, chunks into a database, a query into hits."""
