/// One question that a ``LabHTTPDNSServer`` received, and what became of it. No key, signature or
/// token is in it.
public struct LabServiceEvent: Sendable, Hashable {
    /// The form it was asked in; nil for a path that no spoken form has.
    public internal(set) var form: LabServiceForm?
    /// The names, in order, decrypted.
    public internal(set) var names: [String] = []
    /// What the client said about where it is: `ip`, `cip`, `edns_client_subnet`, `ws_cli_IP`, the
    /// EDNS option; nil when it said nothing.
    public internal(set) var client: String?
    /// Parameters that a client's owner may choose: `sdns-…`, `tags`, `did`, `Am-Tag`.
    public internal(set) var custom: [String: String] = [:]
    /// Whether it was signed.
    public internal(set) var isSigned = false
    /// Whether it was encrypted.
    public internal(set) var isEncrypted = false
    /// `success`, or the code of the refusal.
    public internal(set) var verdict = "success"
    /// The names of the faults that held.
    public internal(set) var faults: [String] = []
}
