// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
public import RunLoops

extension RunLoop {
    /// Which loop something is about.
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

        init(_ loop: RunLoop) { self.init(thread: loop.threadID) }

        /// With the name that the thread has now.
        init(thread: Int32) {
            self.thread = thread
            isMain = thread == SystemCalls.mainThreadID
            name = Self.name(of: thread)
        }

        /// The name of a thread of this process; empty for a thread that has ended.
        static func name(of thread: Int32) -> String {
            // The kernel keeps 15 bytes of a name, and writes a new line after it.
            String(unsafeUninitializedCapacity: 32) { buffer in
                buffer.withMemoryRebound(to: CChar.self) {
                    max(0, Int(rl_thread_name(thread, $0.baseAddress, $0.count)))
                }
            }
        }
    }
}
