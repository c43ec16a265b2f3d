// A forward proxy for programs that are not ours.
