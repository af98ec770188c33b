// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsConcurrency
internal import RunLoopsLibC
internal import RunLoopsSystem

extension RunLoop {
    /// The name of a host, and a port or the name of a service there: an address that has to be looked up.
    ///
    /// ```swift
    /// let socket = try await loop.connect(to: .host("example.org", 443))
    /// ```
    ///
    /// ``HostConnector`` and ``RunLoops/RunLoop/connect(to:within:in:)`` look the name up and connect; ``addresses()``
    /// looks it up only. The system's resolver answers (`getaddrinfo(3)`): `/etc/nsswitch.conf`, `/etc/hosts` and every
    /// module of the machine count. A numeric address is a name as well, and needs no lookup.
    ///
    /// The resolver waits, so each lookup runs on a thread of its own: at most eight at a time in a process, which end
    /// when no lookup waits. Further lookups wait in line. A lookup cannot be ended: when a task is cancelled or a time
    /// limit is over, the program goes on at once, and the thread is busy until the resolver returns, which by default
    /// (`resolv.conf(5)`) takes up to ten seconds for each server and search domain. A lookup that still waits for a
    /// thread then is a ``RunLoops/RunLoop/HostError`` with the stage
    /// ``RunLoops/RunLoop/HostError/Stage/waitingForThread``.
    ///
    /// Thread safety: a value; any thread.
    public struct HostAddress: Hashable, Sendable, CustomStringConvertible {
        /// The name of the host, or a numeric address.
        public let name: String
        /// The port as a number, or the name of a service.
        public let service: String

        /// A port of a host.
        ///
        /// - Parameters:
        ///   - name: The name of the host, such as `localhost`, or a numeric address.
        ///   - port: The port.
        public static func host(_ name: String, _ port: UInt16) -> RunLoop.HostAddress {
            RunLoop.HostAddress(name: name, service: "\(port)")
        }

        /// A service of a host.
        ///
        /// - Parameters:
        ///   - name: The name of the host, such as `localhost`, or a numeric address.
        ///   - service: A name of `/etc/services`, such as `https`, or a number.
        public static func host(_ name: String, service: String) -> RunLoop.HostAddress {
            RunLoop.HostAddress(name: name, service: service)
        }

        /// The name and the service: `localhost:80`, `example.org:https`, `[::1]:80`.
        public var description: String { name.contains(":") ? "[\(name)]:\(service)" : "\(name):\(service)" }

        /// Looks the name up, and returns the addresses in the order of the system's preference (RFC 6724), each once.
        ///
        /// `RunLoop.withTimeout` sets a time limit. When the task is cancelled, the call ends.
        ///
        /// - Returns: At least one address.
        /// - Throws: A ``RunLoops/RunLoop/HostError`` whose reason is about the lookup; `CancellationError`.
        public func addresses() async throws -> [RunLoop.SocketAddress] {
            try await addresses(by: LookupThreads.shared.own)
        }

        func addresses(by threads: LookupThreads) async throws -> [RunLoop.SocketAddress] {
            try Task.checkCancellation()
            let outcome = Outcome<[RunLoop.SocketAddress]>()
            let lookup = HostLookup(of: self, by: threads) { result in
                outcome.settle(result.mapError { RunLoop.HostError(self, $0) })
            }
            return try await withTaskCancellationHandler {
                try await outcome.value(of: "the addresses of \(self)")
            } onCancel: {
                outcome.settle(.failure(CancellationError()))
                lookup.cancel()
            }
        }

        /// The address, if it is numeric: nothing waits then.
        var numeric: RunLoop.SocketAddress? {
            guard let port = UInt16(service) else { return nil }
            return try? .internet(name, port: port)
        }

        /// Asks the system's resolver, and waits.
        func lookUp() -> HostLookup.Result {
            guard let host = SystemText(name), let text = SystemText(service) else {
                return .failure(.system(RunLoop.SystemCallError(call: "getaddrinfo", code: EINVAL, subject: "\(self)")))
            }
            var lookup = rl_lookup()
            let result = host.withCString { host in
                text.withCString { rl_lookup_host(&lookup, host, $0, UInt16(service) != nil) }
            }
            switch result {
            case RL_LOOKUP_FOUND: break
            case RL_LOOKUP_UNKNOWN_HOST: return .failure(.unknownHost)
            case RL_LOOKUP_UNKNOWN_SERVICE: return .failure(.unknownService)
            case RL_LOOKUP_SYSTEM:
                return .failure(
                    .system(RunLoop.SystemCallError(call: "getaddrinfo", code: lookup.code, subject: "\(self)")))
            default: return .failure(.lookupFailed(code: lookup.code))
            }
            defer { rl_lookup_end(&lookup) }
            var addresses: [RunLoop.SocketAddress] = []
            // /etc/hosts may name an address twice.
            var known: Set<RunLoop.SocketAddress> = []
            while let address = RunLoop.SocketAddress(next: &lookup) {
                if known.insert(address).inserted { addresses.append(address) }
            }
            return addresses.isEmpty ? .failure(.unknownHost) : .success(addresses)
        }
    }
}
