public import HTTPDNSCapture
public import HTTPDNSNames

/// How a ``ForwardProxy`` serves. The default is for programs of this machine alone.
public struct ForwardProxyConfiguration: Sendable {
    /// Where it listens.
    public var address: IPAddress
    /// Nil: a free one, see ``ForwardProxy/endpoint``.
    public var port: Port?
    /// What clients must show: as the password of `Basic`, or as `Bearer`. Nil: nothing.
    public var token: Secret?
    /// Ports to which `CONNECT` leads without a proof of the peer's name: whoever answers there is
    /// believed, as no TLS says who it is. None by default.
    public var unprovenPorts: Set<Port> = []
    /// Lets clients reach this machine by `localhost`, loopback and link-local addresses. Off: what
    /// listens here often trusts whoever comes from here.
    public var allowsLocalTargets = false
    /// Lets a listening address be another than loopback. Needs a ``token``: the machine's network is
    /// open to whoever reaches the port, and requests and the token pass in the clear.
    public var servesOtherMachines = false
    /// Time and size limits.
    public var limits = ForwardProxyLimits()
    /// Records what passes: plain requests whole, tunnels by host, address, proof, octets and times.
    /// Where the ``HTTPDNS`` has one of its own, this one is told in its place.
    public var capture: Capture?
    /// Told what happens, on the proxy's thread: must return at once.
    public var observer: (@Sendable (ForwardProxyEvent) -> Void)?

    /// On `127.0.0.1`, at a free port.
    public init(port: Port? = nil) {
        address = IPAddress(family: .ipv4, high: 0, low: 0x7F00_0001)
        self.port = port
    }
}

/// Time and size limits of a proxy.
public struct ForwardProxyLimits: Sendable, Hashable {
    /// Connections of clients at once; more wait in the system's queue. Nil: as many as the descriptors
    /// of the process allow when it begins to serve; see ``ForwardProxy/maximumConnections``.
    public var connections: Int?
    /// How long the head of a request may take from its first octet.
    ///
    /// Because: it is one packet or two; who drips it holds a connection on purpose.
    public var head: Duration = .seconds(15)
    /// How long a connection may stand between two requests, and before the first.
    ///
    /// Because: browsers keep theirs for minutes, and a new one costs nothing over loopback.
    public var keepAlive: Duration = .seconds(75)
    /// How long a plain exchange or the body of a request may be silent.
    ///
    /// Because: what nginx allows an origin is 60 s; long polls are often of a minute or more.
    public var idle: Duration = .seconds(300)
    /// How long resolving a tunnel's host, and finding an address that proves its name, may take in all.
    ///
    /// Because: a lookup has 5 s, an address that says nothing 8 s, and the next begins beside it.
    public var routing: Duration = .seconds(15)
    /// How long a tunnel may be silent both ways.
    ///
    /// Because: push channels and shells stand for long without an octet; the system's keep-alive ends
    /// those whose peer is gone after two hours.
    public var tunnelIdle: Duration = .seconds(7_200)
    /// How long a client may take to begin with TLS in a tunnel that leads to TLS.
    ///
    /// Because: browsers open tunnels ahead of need and use them within a minute.
    public var hello: Duration = .seconds(60)

    public init() {}
}

/// Why a proxy cannot serve: what, and what to do.
public enum ForwardProxyFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The address is not of this machine alone, and that was not asked for.
    case beyondLoopback(IPAddress)
    /// Other machines are served, and anybody could come.
    case tokenMissing
    /// An empty one is none, and one with a control character cannot be sent.
    case badToken
    /// The text is the system's.
    case cannotListen(String)

    public var description: String {
        switch self {
        case .beyondLoopback(let address):
            "\(address) is reached from other machines, which could use this one's network; "
                + "listen on 127.0.0.1 or ::1, or say that other machines are served"
        case .tokenMissing:
            "a proxy for other machines needs a token, or anybody could use it"
        case .badToken: "the token is empty, or holds a control character"
        case .cannotListen(let why): "cannot listen: \(why)"
        }
    }
}
