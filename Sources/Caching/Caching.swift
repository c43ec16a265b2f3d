// Decides what a response kept earlier may answer, and what may be kept. Source: RFC 9111.
