// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import CTraceStart
internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The recording of a whole process, from before `main()` to its end.
private final class ProcessRecording: @unchecked Sendable {
    static let shared = ProcessRecording()

    private let recording = RunLoop.Recording()
    // Both written once, before main().
    @exclusivity(unchecked) private var file = ""
    @exclusivity(unchecked) private var process: pid_t = 0
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var hasEnded = false

    func start(_ file: String, for milliseconds: Int64?) {
        process = getpid()
        self.file = file.replacing("%p", with: process)
        NewLoops.shared.add(self) { [recording] loop in
            _ = recording.record(loop)
        }
        atexit { ProcessRecording.shared.end() }
        if let milliseconds { endProgram(after: milliseconds) }
    }

    /// Has a thread of its own write the trace at that time, and ask the program to end.
    ///
    /// Not a timer of the main loop's: the program may not run it, or what it runs may hang.
    private func endProgram(after milliseconds: Int64) {
        let argument = UnsafeMutableRawPointer(bitPattern: Int(max(1, milliseconds)))
        // Without a thread the program runs to its end.
        _ = rl_thread_start_detached(
            { argument in
                let milliseconds = Int(bitPattern: argument)
                var rest = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
                // EINTR: the rest is still to be slept.
                while case let time = rest, withUnsafePointer(to: time, { nanosleep($0, &rest) }) != 0 {}
                ProcessRecording.shared.end()
                kill(getpid(), SIGTERM)
                return nil
            }, argument)
    }

    private func end() {
        // A child that was forked and calls exit() would write over what its parent writes.
        guard getpid() == process else { return }
        // Held while the file is written: a program that ends at the same time waits for it.
        lock.withLock {
            if hasEnded { return }
            hasEnded = true
            NewLoops.shared.remove(self)
            recording.stop()
            do {
                try recording.trace().write(to: file)
            } catch {
                SystemCalls.writeToStandardError("RUNLOOP_TRACE: \(file) could not be written: \(error)\n")
            }
        }
    }
}

extension String {
    /// The text with every `placeholder` replaced by a number.
    fileprivate func replacing(_ placeholder: String, with number: pid_t) -> String {
        var result = ""
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(placeholder) {
                result += String(number)
                rest = rest.dropFirst(placeholder.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}

/// Called by CTraceStart before `main()`, when the environment has `RUNLOOP_TRACE`.
@_cdecl("run_loops_start_trace")
func startTrace(_ file: UnsafePointer<CChar>) {
    let length = getenv("RUNLOOP_TRACE_FOR").flatMap { Int64(String(cString: $0)) }
    ProcessRecording.shared.start(String(cString: file), for: length)
}
