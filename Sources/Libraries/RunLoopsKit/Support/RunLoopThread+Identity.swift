// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

extension RunLoopThread {
    /// A thread as errors name it: its number, and its name where the name is known.
    public struct Identity: Hashable, Sendable, CustomStringConvertible {
        /// The kernel's number of the thread.
        public let number: Int32
        /// The thread's name; `nil` for a thread that has ended and left no name.
        public let name: String?

        /// Makes an identity from its parts.
        public init(number: Int32, name: String?) {
            self.number = number
            self.name = name
        }

        /// The number, and the name if there is one.
        public var description: String { name.map { "thread \(number) (\($0))" } ?? "thread \(number)" }

        /// A thread that runs, under the name that the kernel has for it.
        static func living(_ number: Int32) -> Identity {
            Identity(number: number, name: name(of: number))
        }

        static var current: Identity { living(SystemCalls.threadID) }

        private static func name(of number: Int32) -> String? {
            // The kernel keeps 15 bytes of a name, and writes a new line after it.
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
                let length = rl_thread_name(number, buffer.baseAddress, buffer.count)
                // ENOENT: the thread has ended since.
                guard length > 0 else { return nil }
                return String(decoding: buffer[..<Int(length)].lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
        }
    }
}
