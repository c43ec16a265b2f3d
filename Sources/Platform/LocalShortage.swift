/// What this machine itself lacks for a connection: it says nothing of the network.
package enum LocalShortage {
    /// What the word of the system, or of those here who ask it, says is lacking; nil when it is for
    /// something else.
    package static func named(by word: String) -> String? { words.first { word.contains($0) } }

    /// EMFILE, ENFILE, ENOMEM and ENOBUFS as glibc says them in the C locale, which this process has;
    /// the same of getaddrinfo; then our own. Source: errno(3), gai_strerror(3); glibc 2.36.
    private static let words = [
        "Too many open files", "Cannot allocate memory", "No buffer space available",
        "Memory allocation failure", "no descriptor left", "no thread left",
        "no descriptor or thread left", "can watch no more sockets", "epoll refused a socket",
    ]
}
