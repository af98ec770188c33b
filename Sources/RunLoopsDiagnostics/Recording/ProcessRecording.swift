// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CTraceStart
internal import LinuxLibC
internal import RunLoops

/// The recording of a whole process, from before `main()` to its end.
private final class ProcessRecording: @unchecked Sendable {
    static let shared = ProcessRecording()

    private let recording = RunLoop.Recording()
    // Written once, before main().
    @exclusivity(unchecked) private var file = ""
    private let generation = ForkGeneration()
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var hasEnded = false

    func start(_ file: String) {
        self.file = file.replacing("%p", with: "\(getpid())")
        recording.addNewLoops()
        atexit { ProcessRecording.shared.end() }
    }

    func end() {
        // A child that was forked and calls exit() would write over what its parent writes.
        if generation.isInherited { return }
        // Held while the file is written: a program that ends at the same time waits for it.
        lock.withLock {
            if hasEnded { return }
            hasEnded = true
            recording.stop()
            do {
                try recording.trace().write(to: file)
            } catch {
                SystemCalls.writeToStandardError("RUNLOOP_TRACE: \(file) could not be written: \(error)\n")
            }
        }
    }
}

/// Called by CTraceStart before `main()`, when the environment has `RUNLOOP_TRACE`.
@_cdecl("run_loops_start_trace")
func startTrace(_ file: UnsafePointer<CChar>) { ProcessRecording.shared.start(String(cString: file)) }

/// Called by CTraceStart when a signal or a time that is over ends the program; returns when the trace is written.
@_cdecl("run_loops_write_trace")
func writeTrace() { ProcessRecording.shared.end() }
