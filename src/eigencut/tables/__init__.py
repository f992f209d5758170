"""Models of tables: columns of every kind, their units and missing values."""
