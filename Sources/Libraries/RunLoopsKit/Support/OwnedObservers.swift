// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Observers of the current thread's loop that leave the loop with the owner of this object.
final class OwnedObservers {
    private var observers: [RunLoop.Observer] = []

    /// Adds an observer to modes of the calling thread's loop.
    func add(
        _ activities: RunLoop.Activities, order: Int, in modes: [RunLoop.Mode], label: String,
        _ handler: @escaping (RunLoop.Activities) -> Void
    ) {
        requireModes(modes)
        let observer = RunLoop.Observer(activities, order: order, label: label) { _, activity in handler(activity) }
        observers.append(observer)
        for mode in modes { RunLoop.current.add(observer, in: mode) }
    }

    /// Takes the observers out for good.
    func invalidate() { for observer in observers { observer.invalidate() } }

    deinit { invalidate() }
}
