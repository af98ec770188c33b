// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The pending requests that were made for a target, so that all of them can be cancelled.
final class PerformRegistry<Request: AnyObject & Sendable>: Sendable {
    /// The requests by their target: a request holds its target, so that no other object gets the target's identity meanwhile.
    private let requests = Guarded<[ObjectIdentifier: [ObjectIdentifier: Request]]>([:])

    func add(_ request: Request, _ target: ObjectIdentifier) {
        requests.withLock { $0[target, default: [:]][ObjectIdentifier(request)] = request }
    }

    func remove(_ request: Request, _ target: ObjectIdentifier) {
        requests.withLock { requests in
            requests[target]?[ObjectIdentifier(request)] = nil
            if requests[target]?.isEmpty == true { requests[target] = nil }
        }
    }

    func requests(for target: ObjectIdentifier) -> [Request] {
        requests.withLock { $0[target].map { Array($0.values) } ?? [] }
    }
}
