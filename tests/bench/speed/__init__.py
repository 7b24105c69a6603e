"""What mdmemory costs, from where the person sits: the rows of `make bench`."""
