operations doctor --tokens --scan operations
