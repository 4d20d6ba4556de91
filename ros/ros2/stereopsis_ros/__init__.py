"""What ament knows the package by."""
