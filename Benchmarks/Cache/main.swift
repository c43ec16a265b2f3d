// Cache hits and memory: our cache, and the dictionary that anybody would write first.
//
//     CacheBench hit ours|dictionary|full NAMES LOOKUPS THREADS
//     CacheBench memory ours|dictionary NAMES
//     CacheBench allocations NAMES LOOKUPS
//
// Each prints one line of JSON. `ns` is per look-up of one thread, with the check of its expiry.

import CBenchSupport
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import Synchronization

let arguments = CommandLine.arguments
func number(_ position: Int) -> Int {
    arguments.count > position ? Int(arguments[position]) ?? 0 : 0
}

switch arguments.dropFirst().first {
case "hit":
    try measureHits(arguments[2], names: number(3), lookups: number(4), threads: number(5))
case "memory":
    try measureMemory(arguments[2], names: number(3))
case "allocations":
    try countAllocations(names: number(2), lookups: number(3))
default:
    print("usage: CacheBench hit|memory|allocations …")
}
