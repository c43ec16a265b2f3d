// swift-tools-version: 6.1
import PackageDescription

// The arrows, by layer. A target may depend only on targets of a lower layer; `scripts/lint` checks
// the layer numbers below against the dependencies. Module = "HTTPDNS" + folder name.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(
    _ folder: String, _ needs: [String] = [], c: [String] = [], in root: String = "Sources",
    plugins: [Target.PluginUsage] = [], exclude: [String] = []
) -> Target {
    .target(
        name: "HTTPDNS" + folder,
        dependencies: needs.map { .target(name: "HTTPDNS" + $0) }
            + c.map { .target(name: "CHTTPDNS" + $0) },
        path: root + "/" + folder, exclude: exclude, swiftSettings: strict, plugins: plugins)
}

func systemLibrary(_ name: String, _ pkgConfig: String, apt: String) -> Target {
    .systemLibrary(
        name: "CHTTPDNS" + name + "Library", path: "Sources/C" + name + "/Library",
        pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func cShim(_ name: String, library: Bool = true, links: [LinkerSetting] = []) -> Target {
    .target(
        name: "CHTTPDNS" + name,
        dependencies: library ? [.target(name: "CHTTPDNS" + name + "Library")] : [],
        path: "Sources/C" + name, exclude: library ? ["Library"] : [], linkerSettings: links)
}

func tests(_ folder: String, _ needs: [String], c: [String] = [], exclude: [String] = []) -> Target
{
    .testTarget(
        name: folder + "Tests",
        dependencies: needs.map {
            .target(name: $0.hasPrefix("!") ? String($0.dropFirst()) : "HTTPDNS" + $0)
        }
            + c.map { .target(name: "CHTTPDNS" + $0) },
        path: "Tests/" + folder, exclude: exclude, swiftSettings: strict)
}

// Layer 0: C
let c: [Target] = [
    systemLibrary("Ares", "libcares", apt: "libc-ares-dev"), cShim("Ares"),
    systemLibrary("OpenSSL", "openssl", apt: "libssl-dev"), cShim("OpenSSL"),
    systemLibrary("Nghttp2", "libnghttp2", apt: "libnghttp2-dev"), cShim("Nghttp2"),
    systemLibrary("Idn2", "libidn2", apt: "libidn2-dev"), cShim("Idn2"),
    systemLibrary("Psl", "libpsl", apt: "libpsl-dev"), cShim("Psl"),
    systemLibrary("SQLite", "sqlite3", apt: "libsqlite3-dev"), cShim("SQLite"),
    // libcurl is opened by the shim on first use, never linked: see docs/decisions.
    cShim("Curl", library: false, links: [.linkedLibrary("dl")]),
    // libhttp-parser-dev has no file for pkg-config.
    cShim("HTTPParser", library: false, links: [.linkedLibrary("http_parser")]),
    // libm: rounding, which no other library brings along for the command-line tool.
    cShim(
        "System", library: false, links: [.linkedLibrary("dispatch"), .linkedLibrary("m")]),
    // zlib, libbrotli and libzstd are opened when their coding is met, like libcurl.
    cShim("Coding", library: false, links: [.linkedLibrary("dl")]),
]

// Layer 1: cores. No I/O, no clock, no lock, no C, no Foundation.
let cores: [Target] = [
    module("Names"),
    module("Redaction"),
    module("Wire", ["Names"]),
    module("Lookup", ["Names", "Redaction", "Wire"]),
    module("Trust", ["Names"]),
    module("Exchange", ["Names", "Trust", "Lookup"]),
    module("Caching", ["Names", "Exchange"]),
    module("Rules", ["Names", "Exchange"]),
    module("Diagnosis", ["Names", "Wire", "Lookup", "Trust"]),
]

// Layer 2: effects
let effects: [Target] = [
    module("Platform", ["Names"], c: ["System"]),
    module("JSON"),
    module("Digest", ["Names"], c: ["OpenSSL"]),
    module("IDNA", ["Names"], c: ["Idn2"]),
    module("PublicSuffix", ["Names"], c: ["Psl"]),
    module(
        "PinPolicy",
        ["Names", "Trust", "Exchange", "Platform", "JSON", "IDNA", "PublicSuffix"]),
    module("OpenSSLTrust", ["Names", "Trust", "Platform", "JSON"], c: ["OpenSSL"]),
    module("RuleFile", ["Names", "Exchange", "Rules", "Platform", "JSON", "IDNA"]),
    module(
        "Store", ["Names", "Wire", "Lookup", "Exchange", "Caching", "Platform"], c: ["SQLite"]),
    module("Coding", c: ["Coding"]),
    module("RequestReading", ["Exchange"], c: ["HTTPParser"]),
    module(
        "Transport", ["Names", "Lookup", "Trust", "Exchange", "Platform", "Coding"],
        c: ["Curl"]),
    module(
        "SecureStream", ["Names", "Lookup", "Trust", "Platform"], c: ["OpenSSL", "Nghttp2"]),
]

// Layer 3: resolvers
let resolvers: [Target] = [
    module(
        "Profiles", ["Names", "Wire", "Lookup", "Exchange", "JSON"], in: "Resolvers",
        plugins: [.plugin(name: "HTTPDNSEmbedProfiles")]),
    module("Datagram", ["Names", "Wire", "Lookup", "Platform"], c: ["Ares"], in: "Resolvers"),
    module(
        "DoH",
        [
            "Names", "Redaction", "Wire", "Lookup", "Exchange", "Trust", "Transport",
            "SecureStream", "Platform",
        ], in: "Resolvers"),
    module("DoT", ["Names", "Wire", "Lookup", "Trust", "SecureStream"], in: "Resolvers"),
    module(
        "Vendor",
        [
            "Names", "Wire", "Lookup", "Exchange", "Trust", "Transport", "Platform", "JSON",
            "Digest", "Profiles",
        ], in: "Resolvers"),
    module("System", ["Names", "Wire", "Lookup", "Platform"], c: ["System"], in: "Resolvers"),
    module("Static", ["Names", "Wire", "Lookup"], in: "Resolvers"),
]

// Turns Resolvers/Profiles/*.json into Swift when Profiles is built.
let embedding: [Target] = [
    .executableTarget(
        name: "HTTPDNSProfileEmbedder", path: "Plugins/ProfileEmbedder", swiftSettings: strict),
    .plugin(
        name: "HTTPDNSEmbedProfiles", capability: .buildTool(),
        dependencies: ["HTTPDNSProfileEmbedder"], path: "Plugins/EmbedProfiles"),
]

// Layer 4: drivers
let drivers: [Target] = [
    module("Resolution", ["Names", "Wire", "Lookup", "Platform"]),
    module(
        "Client",
        [
            "Names", "Lookup", "Trust", "Exchange", "Caching", "Rules", "Platform", "Digest",
            "Transport", "Resolution",
        ]),
    module(
        "Capture",
        [
            "Names", "Redaction", "Wire", "Lookup", "Trust", "Exchange", "Rules", "Platform",
            "JSON", "Store", "Transport", "Client",
        ]),
    module(
        "Interception",
        [
            "Names", "Lookup", "Trust", "Exchange", "Caching", "Rules", "Platform", "IDNA",
            "Transport", "Client", "Capture",
        ],
        c: ["System"]),
    module(
        "Evidence",
        [
            "Names", "Redaction", "Wire", "Lookup", "Trust", "Exchange", "Diagnosis", "Platform",
            "PublicSuffix", "OpenSSLTrust", "Digest", "Transport", "Datagram", "System", "Static",
        ]),
]

// Layer 5: assembly
let assembly: [Target] = [
    module(
        "",
        [
            "Names", "Redaction", "Wire", "Lookup", "Trust", "Exchange", "Platform", "JSON",
            "Digest", "IDNA",
            "PublicSuffix", "PinPolicy", "OpenSSLTrust", "Transport", "Datagram", "DoH", "DoT",
            "Vendor",
            "System", "Static", "Profiles", "Resolution", "Client", "Store", "Caching",
            "Capture", "Diagnosis", "Evidence",
        ], in: "Sources/HTTPDNS"),
    module(
        "URLSession",
        ["", "Client", "Interception", "Rules", "RuleFile", "Capture", "Caching"]),
]

// Layer 6: commands
let commands: [Target] = [
    module(
        "ForwardProxy",
        [
            "", "Names", "Redaction", "Lookup", "Trust", "Exchange", "Platform", "OpenSSLTrust",
            "Transport", "RequestReading", "Resolution", "Client", "Capture",
        ], c: ["System"]),
    module(
        "PinLab", ["Names", "Wire", "Trust", "Platform", "JSON", "Digest"],
        c: ["OpenSSL", "Nghttp2", "System"]),
    module(
        "CLI",
        [
            "", "PinLab", "Names", "Redaction", "Wire", "Lookup", "Trust", "Exchange", "Platform",
            "JSON", "IDNA", "PublicSuffix", "PinPolicy", "OpenSSLTrust", "Transport", "Datagram",
            "DoH",
            "Vendor", "System",
            "Static", "Profiles", "Resolution", "Client", "Store", "Caching", "Capture",
            "Rules", "RuleFile", "Diagnosis", "Evidence", "ForwardProxy",
        ], c: ["System"]),
    .executableTarget(
        name: "HTTPDNSCommand", dependencies: ["HTTPDNSCLI"], path: "Sources/Command",
        swiftSettings: strict),
]

/// All library modules but those that import FoundationNetworking.
let library = (cores + effects + resolvers + drivers + assembly).map {
    String($0.name.dropFirst("HTTPDNS".count))
}.filter { !["Interception", "URLSession"].contains($0) }

// Tests and what they share
let testTargets: [Target] = [
    .target(
        name: "TestSupport",
        dependencies: [
            "HTTPDNSNames", "HTTPDNSWire", "HTTPDNSLookup", "HTTPDNSTrust", "HTTPDNSPlatform",
            "HTTPDNSJSON", "HTTPDNSPinLab", "CHTTPDNSSystem",
        ], path: "Tests/Support", swiftSettings: strict),
    // A process that a test kills, or puts into a network of its own.
    .executableTarget(
        name: "TestChild",
        dependencies: [
            "HTTPDNSStore", "HTTPDNSCaching", "HTTPDNSExchange", "HTTPDNSLookup", "HTTPDNSPlatform",
            "HTTPDNSURLSession", "TestSupport", "CHTTPDNSSystem",
        ],
        path: "Tests/Child", swiftSettings: strict),
    tests("Core", library + ["!TestSupport"], exclude: ["Scenarios/Files"]),
    tests("Conformance", library + ["CLI", "!TestSupport"]),
    tests(
        "Loopback",
        library + ["Interception", "URLSession", "PinLab", "!TestSupport", "!TestChild"],
        c: ["OpenSSL", "System"]),
    tests("CommandLine", library + ["CLI", "PinLab", "!TestSupport", "!HTTPDNSCommand"]),
    tests(
        "Toolbox",
        library + [
            "Interception", "URLSession", "ForwardProxy", "CLI", "PinLab", "!TestSupport",
            "!TestChild", "!HTTPDNSCommand", "!Recipes", "!FuzzedFiles", "!FuzzedRecords",
        ], c: ["System"]),
    // What a fuzzer does to a file, and beside which secrets it stands, for the ordinary tests that
    // replay it.
    .target(name: "FuzzedFiles", path: "Tests/Fuzz/Files", swiftSettings: strict),
    .target(
        name: "FuzzedRecords", dependencies: ["HTTPDNSCapture", "HTTPDNSJSON"],
        path: "Tests/Fuzz/Records", swiftSettings: strict),
    // The resolver tier of docs/fleet.md.
    .target(
        name: "FleetLab",
        dependencies: [
            "HTTPDNS", "HTTPDNSNames", "HTTPDNSWire", "HTTPDNSTrust", "HTTPDNSPlatform",
            "HTTPDNSJSON", "HTTPDNSPinLab", "TestSupport",
        ], path: "Tests/Fleet/Lab", swiftSettings: strict),
    tests(
        "Diagnosis",
        library + [
            "CLI", "PinLab", "!TestSupport", "!TestChild", "!HTTPDNSCommand", "!FleetLab",
        ]),
].filter { target in
    // `HTTPDNS_TESTS=Core,Toolbox` builds only those test targets, while one works on a part.
    guard target.type == .test, let only = Context.environment["HTTPDNS_TESTS"] else { return true }
    return only.split(separator: ",").contains { target.name == $0 + "Tests" }
}

// Fuzz targets need libFuzzer's flags, so they are there only when `scripts/fuzz` asks.
func fuzzTarget(_ folder: String, _ needs: [String], also: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: folder + "Fuzz",
        dependencies: ["FuzzLoop"] + also + needs.map { .target(name: "HTTPDNS" + $0) },
        path: "Tests/Fuzz/" + folder, exclude: ["corpus"],
        swiftSettings: strict + [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
        linkerSettings: [.unsafeFlags(["-use-ld=lld", "-sanitize=fuzzer"])])
}

let fuzzTargets: [Target] =
    Context.environment["HTTPDNS_FUZZ"] == nil
    ? []
    : [
        .target(name: "FuzzLoop", path: "Tests/Fuzz/Loop", swiftSettings: strict),
        fuzzTarget("Wire", ["Wire"]), fuzzTarget("JSON", ["JSON"]),
        fuzzTarget("Certificates", ["Names", "OpenSSLTrust", "Trust"]),
        fuzzTarget("PinPolicy", ["PinPolicy", "Trust"]),
        fuzzTarget("HAR", ["Capture"]), fuzzTarget("CaptureRows", ["Capture", "Store"]),
        fuzzTarget("CaptureFiles", ["Capture", "Platform", "Store"], also: ["FuzzedFiles"]),
        fuzzTarget("Requests", ["RequestReading"]),
        fuzzTarget("Redaction", ["Redaction"], also: ["FuzzedRecords"]),
        fuzzTarget("Rules", ["RuleFile", "Rules", "Exchange"]),
    ]

// A long run under load, there only when `scripts/soak` asks: see docs/soak.md.
let soakTargets: [Target] =
    Context.environment["HTTPDNS_SOAK"] == nil
    ? []
    : [
        .target(name: "CSoakSupport", path: "Tests/Soak/CSupport"),
        .executableTarget(
            name: "Soak",
            dependencies: [
                "CSoakSupport",
                "HTTPDNSDatagram", "HTTPDNSDoH", "HTTPDNSDoT", "HTTPDNSExchange", "HTTPDNSLookup",
                "HTTPDNSNames", "HTTPDNSOpenSSLTrust", "HTTPDNSPinLab", "HTTPDNSPlatform",
                "HTTPDNSResolution", "HTTPDNSSecureStream", "HTTPDNSStore", "HTTPDNSTransport",
                "HTTPDNSTrust", "HTTPDNSVendor", "HTTPDNSWire", "TestSupport",
            ], path: "Tests/Soak", exclude: ["CSupport"], swiftSettings: strict),
        .executableTarget(
            name: "SessionSoak",
            dependencies: [
                "CHTTPDNSSystem", "CSoakSupport", "HTTPDNSNames", "HTTPDNSPinLab",
                "HTTPDNSPlatform", "HTTPDNSURLSession", "TestSupport",
            ], path: "Tests/SessionSoak", swiftSettings: strict),
    ]

// The tier of docs/fleet.md under load, there only when `scripts/fleet` asks.
let fleetTargets: [Target] =
    Context.environment["HTTPDNS_FLEET"] == nil
    ? []
    : [
        .executableTarget(
            name: "Fleet", dependencies: ["FleetLab"], path: "Tests/Fleet/Run",
            swiftSettings: strict)
    ]

// Programs written as a user of the library would write them
let examples: [Target] = [
    .executableTarget(
        name: "Demo", dependencies: ["HTTPDNSURLSession", "HTTPDNSPinLab"], path: "Examples/Demo",
        swiftSettings: strict),
    // The code of docs/recipes.md; a test holds the two together.
    .target(
        name: "Recipes", dependencies: ["HTTPDNSURLSession", "HTTPDNSForwardProxy"],
        path: "Examples/Recipes", swiftSettings: strict),
]

// Programs that measure, there only when `scripts/bench` asks: they need a release build.
func benchTarget(_ folder: String, _ needs: [String]) -> Target {
    .executableTarget(
        name: folder + "Bench",
        dependencies: ["CBenchSupport"] + needs.map { .target(name: "HTTPDNS" + $0) },
        path: "Benchmarks/" + folder, swiftSettings: strict)
}

let benchTargets: [Target] =
    Context.environment["HTTPDNS_BENCH"] == nil
    ? []
    : [
        .target(name: "CBenchSupport", path: "Benchmarks/CSupport"),
        benchTarget("Cache", ["Names", "Wire", "Lookup", "Platform", "Resolution"]),
        benchTarget(
            "Plain", ["Names", "Wire", "Lookup", "Platform", "Datagram", "Resolution"]),
        benchTarget("Parse", ["Names", "Wire", "Lookup", "Vendor"]),
        benchTarget(
            "DoH",
            [
                "Names", "Wire", "Lookup", "Exchange", "Trust", "OpenSSLTrust", "Platform",
                "SecureStream", "Transport", "DoH",
            ]),
        benchTarget("HTTP", ["", "Platform", "URLSession"]),
        benchTarget("Client", ["", "Platform"]),
        benchTarget(
            "Trust", ["Names", "Trust", "OpenSSLTrust", "Exchange", "Platform", "Transport"]),
    ]

let package = Package(
    name: "swift-httpdns",
    products: [
        .library(name: "HTTPDNS", targets: ["HTTPDNS"]),
        .library(name: "HTTPDNSURLSession", targets: ["HTTPDNSURLSession"]),
        .library(name: "HTTPDNSPinLab", targets: ["HTTPDNSPinLab"]),
        .library(name: "HTTPDNSForwardProxy", targets: ["HTTPDNSForwardProxy"]),
        .executable(name: "httpdns", targets: ["HTTPDNSCommand"]),
    ],
    targets: c + cores + effects + embedding + resolvers + drivers + assembly + commands
        + testTargets + fuzzTargets + soakTargets + fleetTargets + benchTargets
        + examples
)
