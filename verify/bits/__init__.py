"""How many bits a construction takes: hard inputs run at every precision below the one that it is wired for."""
