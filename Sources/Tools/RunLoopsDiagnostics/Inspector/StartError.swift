// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Inspector {
    /// The reason why the inspector could not be started.
    public enum StartError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The directory for the socket is not the user's alone; says which directory, and why.
        case unsafeDirectory(String)
        /// The error with which the system refused a call.
        case system(RunLoop.SystemCallError)

        /// The error in words.
        public var description: String {
            switch self {
            case .unsafeDirectory(let why): "no safe directory for the inspector's socket: \(why)"
            case .system(let error): "\(error)"
            }
        }
    }
}
