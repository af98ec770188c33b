// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
public import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension RunLoop.Trace {
    /// The trace as JSON that Chrome's tracing page and Perfetto open.
    ///
    /// Threads are tracks; runs, turns, sleeps and callouts are slices that nest; each wake-up is a flow from its
    /// waker.
    /// - Complexity: O(n) in the events.
    public func chromeJSON() -> String { ChromeTrace.text(self) }

    /// The trace as a page for any browser, which needs nothing else.
    ///
    /// - Complexity: O(n) in the events.
    public func page() -> String { TracePage.text(self) }

    /// Writes the page, if the file's name ends in `.html`, otherwise the JSON.
    ///
    /// - Parameter file: Its path; a file that is there is replaced.
    /// - Throws: what `open(2)` or `write(2)` refused.
    public func write(to file: String) throws(RunLoop.SystemCallError) {
        var text = file.hasSuffix(".html") ? page() : chromeJSON()
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw RunLoop.SystemCallError(call: "open", code: errno) }
        defer { close(descriptor) }
        let code = text.withUTF8 { Self.write($0, to: descriptor) }
        if code != 0 { throw RunLoop.SystemCallError(call: "write", code: code) }
    }

    /// Returns an error number, or 0.
    private static func write(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: CInt) -> CInt {
        var done = 0
        while done < bytes.count {
            let count = rl_write(descriptor, bytes.baseAddress.unsafelyUnwrapped + done, bytes.count - done)
            if count < 0 { return -count }
            done += Int(count)
        }
        return 0
    }
}
