"""What people see of a construction: commands, dumps, files, traces."""
