internal import HTTPDNSNames

/// A fault by its name.
public struct LabNamedFault: Sendable, Hashable {
    /// Lower case, digits and hyphens; never changes.
    public let name: String
    /// The fault, with usual amounts where it has any.
    public let fault: LabServiceFault
    /// One line: what a client sees.
    public let summary: String

    init(_ name: String, _ fault: LabServiceFault, _ summary: String) {
        self.name = name
        self.fault = fault
        self.summary = summary
    }
}

extension LabServiceFault {
    /// Every fault that has a name, by kind.
    public static let catalogue: [LabNamedFault] =
        told + fields + encryption + batches + authority + transport

    /// The fault of that name; nil for none.
    public static func named(_ name: String) -> LabServiceFault? {
        catalogue.first { $0.name == name }?.fault
    }

    /// The name in the catalogue; "unnamed" for a fault with amounts of its own.
    public var name: String {
        LabServiceFault.catalogue.first { $0.fault == self }?.name ?? "unnamed"
    }

    private static let told: [LabNamedFault] =
        [
            LabNamedFault("empty", .answersEmpty, "names exist and have no address"),
            LabNamedFault("denied", .denies, "no name exists"),
            LabNamedFault("lies-loopback", .lies([hijack(127, 0, 0, 66)]), "answers in 127/8"),
            LabNamedFault("lies-private", .lies([hijack(10, 0, 0, 1)]), "answers in 10/8"),
            LabNamedFault("lies-zero", .lies([hijack(0, 0, 0, 0)]), "0.0.0.0 for every name"),
            LabNamedFault(
                "lies-benchmark", .lies([hijack(198, 18, 0, 1)]), "answers in 198.18/15"),
            LabNamedFault(
                "lies-search-page", .lies([hijack(203, 0, 113, 66)]),
                "one public address for every name that exists"),
            LabNamedFault("lies-by-server", .liesByServer, "an address no other server tells"),
            LabNamedFault(
                "rewrites-missing", .rewritesMissing([hijack(203, 0, 113, 66)]),
                "an address for names that do not exist"),
        ]
        + LabEmptyForm.allCases.map {
            LabNamedFault(
                "empty-" + $0.rawValue, .answersEmptyAs($0), "no address, told in another way")
        }

    private static let fields: [LabNamedFault] =
        [
            LabNamedFault("no-ttl", .leavesOutTTL, "answers without a TTL"),
            LabNamedFault("no-origin-ttl", .leavesOutOriginTTL, "no origin_ttl"),
            LabNamedFault("no-mode", .leavesOutMode, "no mode in Aliyun's second interface"),
            LabNamedFault("no-status", .leavesOutStatus, "JSON without Status"),
            LabNamedFault("no-data", .leavesOutData, "JSON records without data"),
            LabNamedFault("question-object", .questionAsObject, "Question is an object"),
            LabNamedFault("extra-expires", .addsExpires, "records with Expires"),
            LabNamedFault("extra-class", .addsClass, "records with class"),
            LabNamedFault("extra-type", .addsType, "Aliyun's batch elements with type"),
            LabNamedFault("refusal-200", .refusesWithSuccess, "refusals with status 200"),
        ]
        + LabTTLFault.allCases.map {
            LabNamedFault("ttl-" + $0.rawValue, .ttl($0), "TTLs of another kind")
        }

    private static let encryption: [LabNamedFault] = [
        LabNamedFault("wrong-key", .cipher(.wrongKey), "encrypted with another key"),
        LabNamedFault("truncated-iv", .cipher(.truncatedVector), "ends inside the vector"),
        LabNamedFault("bad-padding", .cipher(.badPadding), "padding that is none"),
        LabNamedFault("flipped-tag", .cipher(.flippedTag), "a wrong authentication tag"),
        LabNamedFault("upper-hex", .upperCaseHex, "upper-case hexadecimal digits"),
        LabNamedFault("base64-lines", .base64Lines, "Base64 broken into lines"),
        LabNamedFault("plain-data", .plainData, "plain data while mode says encrypted"),
    ]

    private static let batches: [LabNamedFault] = [
        LabNamedFault("batch-reversed", .reversesBatch, "the last name first"),
        LabNamedFault("batch-twice", .duplicatesBatch, "every name twice"),
        LabNamedFault("batch-missing", .dropsFromBatch, "one name missing"),
        LabNamedFault("batch-wrapped", .wrapsBatch, "Volcengine's list in an object"),
        LabNamedFault("client-last-line", .clientOnLastLine, "|client on the last line only"),
        LabNamedFault("toggled-dot", .togglesDot, "the dot after names the other way"),
        LabNamedFault("trailing-semicolon", .trailingSemicolon, "lists end in a semicolon"),
    ]

    private static let authority: [LabNamedFault] =
        [
            LabNamedFault("clock-behind", .clockWrong(seconds: -7_200), "two hours behind"),
            LabNamedFault("clock-ahead", .clockWrong(seconds: 7_200), "two hours ahead"),
        ]
        + LabRefusal.allCases.map {
            LabNamedFault("refuses-" + $0.rawValue, .refuses($0), "refused for this reason")
        }
        + LabScheduleFault.allCases.map {
            LabNamedFault("schedule-" + $0.rawValue, .schedule($0), "/ss tells a bad list")
        }

    private static let transport: [LabNamedFault] =
        [
            LabNamedFault(
                "redirect-http", .redirects(to: "http://127.0.0.1:9/"), "302 to plain HTTP"),
            LabNamedFault("captive-portal", .captivePortal, "200 with a log-in page"),
            LabNamedFault("other-json", .answersOtherJSON, "200 with JSON of another kind"),
            LabNamedFault("truncated", .truncates, "half the body, then the end"),
            LabNamedFault("slow-loris", .trickles(pauseMilliseconds: 50), "octet by octet"),
            LabNamedFault("late", .delays(milliseconds: 5_000), "five seconds late"),
            LabNamedFault("silent", .neverAnswers, "no answer, ever"),
            LabNamedFault("huge", .answersHuge(octets: 2_097_152), "two mebibytes of spaces"),
            LabNamedFault("gzip", .gzips, "gzip, asked for or not"),
            LabNamedFault("chunked-trailers", .chunksWithTrailers, "chunks with trailers"),
            LabNamedFault("aged", .ages(seconds: 30), "30 seconds old, Age says so"),
            LabNamedFault("status-413", .status(413), "413"),
            LabNamedFault("status-429", .statusRetry(429, afterSeconds: 2), "429, Retry-After"),
            LabNamedFault("status-500", .status(500), "500"),
            LabNamedFault("status-503", .statusRetry(503, afterSeconds: 2), "503, Retry-After"),
            LabNamedFault("reset-after-head", .resetsAfterHead, "a reset after the head"),
            LabNamedFault("closed", .closesUnanswered, "the connection ends unanswered"),
        ]
        + LabCertificateFault.allCases.map {
            LabNamedFault("certificate-" + $0.rawValue, .certificate($0), "a bad certificate")
        }

    private static func hijack(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> IPAddress {
        IPAddress(octets: [a, b, c, d]) ?? LabAddress.ipv4
    }
}
