internal import CTraceStart
internal import Glibc
internal import RunLoops

/// The recording of a whole process, from before `main()` to its end.
private final class ProcessRecording: @unchecked Sendable {
    static let shared = ProcessRecording()

    private let recording = Recording()
    // Written once, before main().
    @exclusivity(unchecked) private var file = ""
    @exclusivity(unchecked) private var process: pid_t = 0

    func start(_ file: String) {
        process = getpid()
        self.file = file.replacing("%p", with: process)
        NewLoops.shared.add(self) { [recording] core in
            if let loop = core.face as? RunLoop { _ = recording.record(loop) }
        }
        atexit { ProcessRecording.shared.end() }
    }

    private func end() {
        // A child that was forked and calls exit() would write over what its parent writes.
        guard getpid() == process else { return }
        NewLoops.shared.remove(self)
        recording.stop()
        do {
            try recording.trace().write(to: file)
        } catch {
            SystemCalls.writeToStandardError("RUNLOOP_TRACE: \(file) could not be written: \(error)\n")
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
    ProcessRecording.shared.start(String(cString: file))
}
