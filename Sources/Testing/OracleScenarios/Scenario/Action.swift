// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// An item of a scenario, by kind and place in the scenario's list of that kind.
package enum ItemName: Hashable, Sendable {
    case source(Int)
    case descriptor(Int)
    case timer(Int)
    case observer(Int)
}

/// Where an item or a block goes: every common mode, or one mode by its place in the scenario (0 is the default mode).
package enum ModeName: Hashable, Sendable {
    case common
    case mode(Int)
}

/// A timer's date, told so that both engines can make it for themselves.
///
/// Everything hangs on the moment the scenario began; a scenario that ran a little later is still the same scenario.
package enum FireDate: Hashable, Sendable {
    /// So many milliseconds before the date is used.
    case past(Int)
    /// The moment the date is used.
    case now
    /// So many slots after the scenario's beginning.
    case slot(Int)
    /// An hour and so many seconds after the scenario's beginning: never comes.
    case far(Int)
}

/// How long a run may take.
package enum RunLimit: Hashable, Sendable {
    case zero
    /// So many slots: passes while the scenario runs.
    case slots(Int)
    /// Half a minute: has a deadline, which never passes.
    case large
    case unlimited
}

/// One thing a scenario's program does, in its body, inside a callout, or from the other thread.
package enum Action: Hashable, Sendable {
    case add(ItemName, ModeName)
    case remove(ItemName, ModeName)
    case invalidate(ItemName)
    case markCommon(Int)
    case signal(Int)
    case trigger(descriptor: Int)
    case wakeUp
    case stop
    case perform(block: Int, [ModeName])
    case queue(Int)
    case setFireDate(timer: Int, FireDate)
    case run(ModeName, RunLimit, returnAfterSourceHandled: Bool)
    case askContains(ItemName, ModeName)
    case askValid(ItemName)
    case askSignalled(Int)
    case askCurrentMode
    case askNextFireDate(ModeName)
}

extension Action {
    /// The item that the action is about, if there is one.
    package var item: ItemName? {
        switch self {
        case .add(let item, _), .remove(let item, _), .invalidate(let item), .askContains(let item, _),
            .askValid(let item):
            item
        case .signal(let source), .askSignalled(let source): .source(source)
        case .trigger(let descriptor): .descriptor(descriptor)
        case .setFireDate(let timer, _): .timer(timer)
        default: nil
        }
    }
}
