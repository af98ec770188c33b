// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CGTK
import Foundation
import RunLoopsGLib

/// What a toolkit on GTK does with the main thread.
@MainActor
enum Backend: String {
    /// Looks at Foundation's loop every 50 ms, or when its next timer is due: `mainRunLoopTicklingLoop` of swift-cross-ui.
    case tickler
    /// Runs GTK and nothing else: adwaita-swift and SwiftGtk.
    case alone
    /// Has this package's main loop in GTK's, and Foundation's in that.
    case guest

    private static var guestLoop: GLibGuest?

    /// Called once when the application is activated.
    func start() throws {
        switch self {
        case .tickler: Self.tickle(afterMilliseconds: 50)
        case .alone: break
        // All of the patch: the loop stays in GTK's as long as the object lives.
        case .guest: Self.guestLoop = try GLibGuest()
        }
    }

    private static func tickle(afterMilliseconds delay: Int) {
        g_timeout_add_full(
            0, guint(delay),
            { _ in
                MainActor.assumeIsolated { Backend.look() }
                return 0
            }, nil, nil)
    }

    private static func look() {
        let next = RunLoop.main.limitDate(forMode: .default)
        tickle(afterMilliseconds: next.map { max(min(Int($0.timeIntervalSinceNow * 1000), 50), 0) } ?? 50)
    }
}
