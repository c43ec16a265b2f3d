// Filled by the module's first change.
