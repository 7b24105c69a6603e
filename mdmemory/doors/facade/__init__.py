"""What a Memory can do, by what it is about; doors/memory puts it together."""
