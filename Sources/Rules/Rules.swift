// Decides what happens to a request that a session makes: the ordered rules of an installation.
