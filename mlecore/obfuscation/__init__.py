"""Other names for files, columns, categories and ids of public tables, and the way back for submissions."""
