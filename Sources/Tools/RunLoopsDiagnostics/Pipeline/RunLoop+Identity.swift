// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops

extension RunLoop {
    /// The identity of a loop in reports and traces.
    ///
    /// Thread safety: a value; any thread.
    public struct Identity: Sendable, Hashable, CustomStringConvertible {
        /// The kernel's number of the loop's thread.
        public var thread: Int32
        /// The thread's name as the kernel knew it when this value was made.
        ///
        /// A thread without a name of its own has the name of the thread that created it.
        public var name: String
        /// Whether the loop is the main loop.
        public var isMain: Bool

        /// `main` for the main loop; otherwise the thread's name, or its number if it has no name.
        public var description: String { isMain ? "main" : name.isEmpty ? "thread \(thread)" : name }

        /// Makes the identity of a thread's loop, with the thread's present name.
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
