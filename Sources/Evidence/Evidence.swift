// Gathers what Diagnosis judges.
