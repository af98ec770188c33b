// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops

extension RunLoop {
    /// The error of a host whose name cannot be looked up, or that cannot be connected to.
    public struct HostError: Error, Hashable, Sendable, CustomStringConvertible {
        /// Why there is no connection.
        public enum Reason: Error, Hashable, Sendable {
            /// The resolver knows no such host, or no address of it.
            case unknownHost
            /// The system knows no such service.
            case unknownService
            /// The lookup failed, with a code of `<netdb.h>`: `EAI_AGAIN` when no server has answered, or when a server
            /// has failed.
            case lookupFailed(code: CInt)
            /// Each address was tried, and none could be connected to.
            case unreachable
            /// The time limit is over.
            case tookTooLong(Duration, Stage)
            /// The system has refused a thread, a descriptor or memory, or the name contains a zero byte.
            case system(SystemCallError)
        }

        /// How far a connector was.
        public enum Stage: Hashable, Sendable {
            /// The lookup waited for a thread: all threads were busy with lookups that had not returned.
            case waitingForThread
            /// The resolver had not answered.
            case lookup
            /// No address had answered.
            case connecting
        }

        /// One address that was tried.
        public struct Attempt: Hashable, Sendable {
            /// The address.
            public let address: SocketAddress
            /// Why there is no connection; `nil` if the address had not answered.
            public let error: SystemCallError?

            /// Makes an attempt, for tests of code that handles errors.
            public init(_ address: SocketAddress, _ error: SystemCallError? = nil) {
                self.address = address
                self.error = error
            }
        }

        /// The host.
        public let host: HostAddress
        /// Why there is no connection.
        public let reason: Reason
        /// The addresses that were tried, in that order; empty if the lookup failed.
        public let attempts: [Attempt]

        /// Makes an error, for tests of code that handles one.
        public init(_ host: HostAddress, _ reason: Reason, attempts: [Attempt] = []) {
            self.host = host
            self.reason = reason
            self.attempts = attempts
        }

        /// The host, the reason, and each address that was tried with its error.
        public var description: String {
            let tried = attempts.map { attempt in
                attempt.error.map { "\($0)" } ?? "connect \(attempt.address): no answer"
            }
            return (["\(host): \(words)"] + tried).joined(separator: "; ")
        }

        private var words: String {
            switch reason {
            case .unknownHost: "The host is unknown, or has no address."
            case .unknownService: "The service is unknown."
            case .lookupFailed(let code): "The lookup failed: \(String(cString: rl_lookup_message(code))) (\(code))."
            case .unreachable: "No address could be connected to."
            case .tookTooLong(let limit, .waitingForThread):
                "The time limit of \(limit) is over, and all lookup threads are busy with other lookups."
            case .tookTooLong(let limit, .lookup): "The resolver has not answered within \(limit)."
            case .tookTooLong(let limit, .connecting): "No address has answered within \(limit)."
            case .system(let error): "\(error)"
            }
        }
    }
}
