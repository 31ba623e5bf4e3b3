operations types --scan operations
