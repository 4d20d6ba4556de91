"""The package that ament registers; the node is in the Python package stereopsis."""
