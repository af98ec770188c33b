// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
public import RunLoops

extension RunLoop {
    /// The identity of a loop in reports and traces.
    ///
    /// Thread safety: a value; any thread.
    public struct Identity: Sendable, Hashable, CustomStringConvertible {
        /// The kernel's number of the loop's thread.
        public var thread: Int32
        /// The thread's name when this was made, as the kernel knows it.
        ///
        /// A thread that was given none has that of the thread which made it.
        public var name: String
        /// Whether it is the main loop.
        public var isMain: Bool

        /// `main` for the main loop, otherwise the thread's name, or its number where it has none.
        public var description: String { isMain ? "main" : name.isEmpty ? "thread \(thread)" : name }

        /// With the name that the thread has now.
        init(thread: Int32) {
            self.thread = thread
            isMain = thread == SystemCalls.mainThreadID
            // The kernel keeps 15 bytes of a name, and writes a new line after it; a thread that has ended has none.
            name = String(unsafeUninitializedCapacity: 32) { buffer in
                buffer.withMemoryRebound(to: CChar.self) {
                    max(0, Int(rl_thread_name(thread, $0.baseAddress, $0.count)))
                }
            }
        }
    }
}
