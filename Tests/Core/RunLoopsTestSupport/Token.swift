// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

/// Something to see being released.
package final class Token: Sendable {
    private let released: @Sendable () -> Void

    package init(_ released: @escaping @Sendable () -> Void = {}) { self.released = released }

    deinit { released() }
}

/// Sees whether a token, or any object, is gone.
// Unchecked: the lock makes it safe.
package final class Witness: @unchecked Sendable {
    private let lock = Lock()
    private weak var object: AnyObject?

    package init() {}

    /// A token that this watches.
    package func makeToken() -> Token {
        let token = Token()
        watch(token)
        return token
    }

    package func watch(_ object: AnyObject) { lock.withLock { self.object = object } }

    package var isGone: Bool { lock.withLock { object == nil } }
}
