/// libFuzzer's loop; what every fuzz target runs in place of a `main` of its own.
public enum FuzzLoop {
    /// Feeds `test` until the command line's limits are reached, or something is found.
    public static func run(
        _ count: CInt,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
        _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt {
        var count = count
        var arguments = arguments
        return runFuzzer(&count, &arguments, test)
    }
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
