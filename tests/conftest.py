"""pytester must be loaded from the top of the tests."""

pytest_plugins = "pytester"
