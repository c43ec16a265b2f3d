// From evidence (answers, handshakes, probes) to a verdict with reasons.
