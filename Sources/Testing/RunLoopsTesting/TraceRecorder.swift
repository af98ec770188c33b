// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Records the activities and callouts of a loop as lines of text that a test can compare.
    ///
    /// ```text
    /// run kCFRunLoopDefaultMode
    ///   entry
    ///   beforeTimers
    ///   beforeSources
    ///   > source "input"
    ///   exit
    /// stopped
    /// ```
    ///
    /// Each activity is a line, whether an observer receives the activity or not. Each callout is a line, with its kind
    /// and label. A run begins and ends with a line. The lines of a run or of a callout are indented.
    ///
    /// Thread safety: belongs to the loop's thread. The recording ends with ``stop()`` or when the recorder is
    /// released.
    public final class TraceRecorder {
        private let tracer = Tracer()
        private let loop: RunLoop

        /// Starts to record `loop`; one recorder at a time, on the loop's own thread.
        public init(_ loop: RunLoop) {
            precondition(
                loop.threadID == SystemCalls.threadID,
                "A trace recorder is made on the thread of the loop it records.")
            self.loop = loop
            loop.tracer = tracer
        }

        deinit { stop() }

        /// Ends the recording, and keeps the lines.
        public func stop() {
            if loop.tracer === tracer { loop.tracer = nil }
        }

        /// The recorded lines.
        public var lines: [String] { tracer.lines }

        /// The lines as one text.
        public var text: String { tracer.lines.joined(separator: "\n") }

        /// The lines of the callouts, each with kind and label, without indentation.
        public var callouts: [String] {
            lines.compactMap { line in
                let line = line.drop { $0 == " " }
                return line.hasPrefix("> ") ? String(line.dropFirst(2)) : nil
            }
        }

        /// Removes the lines so far, and returns them.
        @discardableResult
        public func takeLines() -> [String] {
            defer { tracer.lines = [] }
            return tracer.lines
        }

        /// Adds a line with a text of the test.
        public func note(_ text: String) { tracer.write(text) }

        private final class Tracer: LoopTracer {
            var lines: [String] = []
            private var depth = 0

            func write(_ text: String) { lines.append(String(repeating: "  ", count: depth) + text) }

            func trace(_ event: LoopEvent) {
                switch event {
                case .runBegins(let mode):
                    write("run \(mode)")
                    depth += 1
                case .passes(let activity):
                    // "[entry]" without its brackets.
                    write(String(activity.description.dropFirst().dropLast()))
                case .calls(let callee, let label):
                    write("> \(callee.rawValue) \"\(label.text)\"")
                    depth += 1
                case .wanted, .sleeps, .wakes:
                    // When, and by which thread: that differs from one run to the next.
                    break
                case .returns:
                    depth -= 1
                case .runEnds(let result):
                    depth -= 1
                    write("\(result)")
                }
            }
        }
    }
}
