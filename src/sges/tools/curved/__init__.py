"""The score of curved relations: each variable is a block of functions of its ranks."""
