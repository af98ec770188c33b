// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// An item of a scenario, by kind and place in the scenario's list of that kind.
package enum ItemName: Hashable, Sendable {
    case source(Int)
    case descriptor(Int)
    case timer(Int)
    case observer(Int)
}

/// The modes to which an item or a block is added: the common modes, or one mode by its index in the scenario (0 is the
/// default mode).
package enum ModeName: Hashable, Sendable {
    case common
    case mode(Int)
}

/// A timer's date, in a form that each engine can convert to its own dates.
///
/// Dates are relative to the beginning of the scenario, so that a scenario is the same whenever it is run.
package enum FireDate: Hashable, Sendable {
    /// A number of milliseconds before the moment at which the date is used.
    case past(Int)
    /// The moment the date is used.
    case now
    /// A number of slots after the scenario's beginning.
    case slot(Int)
    /// An hour and a number of seconds after the scenario's beginning, which no scenario reaches.
    case far(Int)
}

/// The limit of a run.
package enum RunLimit: Hashable, Sendable {
    case zero
    /// A number of slots, which pass while the scenario runs.
    case slots(Int)
    /// Half a minute, a deadline that no scenario reaches.
    case large
    case unlimited
}

/// One step of a scenario's program, in its body, inside a callout, or on the other thread.
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
    case run(ModeName, RunLimit, returnsAfterSource: Bool)
    case askContains(ItemName, ModeName)
    case askValid(ItemName)
    case askSignalled(Int)
    case askCurrentMode
    case askNextFireDate(ModeName)
}

extension Action {
    /// The item on which the action acts; nil if there is none.
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
