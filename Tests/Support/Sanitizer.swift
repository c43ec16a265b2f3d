internal import Glibc

/// Whether the tests run under AddressSanitizer or ThreadSanitizer, as `make san` runs them.
///
/// Both keep what was freed, and books beside every octet: there the memory of the process says
/// nothing of the code under test.
package enum Sanitizer {
    package static let isOn = getenv("ASAN_OPTIONS") != nil || getenv("TSAN_OPTIONS") != nil
}
