"""What whole models share: programs, searches, how they are built, described and found."""
