"""Number formats and correctly rounded operations."""
