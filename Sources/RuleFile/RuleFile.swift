// Reads rules from a JSON file.
