"""A campaign folder: its settings and tables, read into one instance and written from one."""
