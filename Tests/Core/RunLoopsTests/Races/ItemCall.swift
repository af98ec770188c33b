// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What can be raced.
enum ItemKind: CaseIterable {
    case source, timer, observer, descriptorSource

    /// Whether an item may be in several loops at once.
    var isShared: Bool { self == .source || self == .descriptorSource }
}

/// A call on an item, or on a loop about an item.
///
/// Home and elsewhere are two loops, each of which runs on a thread of its own.
enum ItemCall: CaseIterable {
    case add, addCommon, remove, removeCommon, addElsewhere, removeElsewhere
    case invalidate, contains, containsElsewhere, describe
    /// Marks another mode of the home loop as common.
    case markCommon
    /// Takes the item out of each mode of the home loop by itself: several calls, which only prepare a race.
    case removeFromEach
    case signal, restart, setFireInstant, setTolerance, setEvents

    /// The calls that are raced with each other on one kind of item.
    static func raced(on kind: ItemKind) -> [ItemCall] {
        allCases.filter { call in
            switch call {
            case .signal: kind == .source
            case .restart, .setFireInstant, .setTolerance: kind == .timer
            case .setEvents: kind == .descriptorSource
            case .removeFromEach: false
            default: true
            }
        }
    }

    /// What has happened to an item before two calls race for it.
    static let preparations: [[ItemCall]] = [
        [], [.add], [.addCommon], [.addCommon, .removeFromEach], [.addElsewhere], [.add, .addElsewhere],
        [.addCommon, .removeFromEach, .addElsewhere],
    ]
}

/// Where an item is, as anyone can see it.
struct ItemView: Equatable {
    var isValid: Bool
    var modes: RacedModes
    var isElsewhere: Bool
    /// What the home loop says of `.common`.
    var isCommon: Bool
}

/// Modes of the home loop.
struct RacedModes: OptionSet {
    let rawValue: Int
    static let standard = RacedModes(rawValue: 1)
    /// Marked as common before the item was made.
    static let earlier = RacedModes(rawValue: 2)
    /// Marked as common by ``ItemCall/markCommon``.
    static let fresh = RacedModes(rawValue: 4)
}

/// What calls do to an item when no two of them overlap: the rules of Core Foundation.
struct ItemModel {
    let kind: ItemKind
    private var isValid = true
    private var modes: RacedModes = []
    private var isElsewhere = false
    private var isCommonItem = false
    private var commonModes: RacedModes
    /// Whether the thread of the home loop has ended.
    private var isHomeOver = false

    init(_ kind: ItemKind, hasEarlierMode: Bool) {
        self.kind = kind
        commonModes = hasEarlierMode ? [.standard, .earlier] : .standard
    }

    var view: ItemView {
        // A timer in no mode does not count as common.
        let isCommon = isCommonItem && (kind != .timer || !modes.isEmpty)
        return ItemView(isValid: isValid, modes: modes, isElsewhere: isElsewhere, isCommon: isCommon)
    }

    private var canComeHome: Bool { isValid && !isHomeOver && (kind.isShared || !isElsewhere) }

    /// The home loop's thread ends: the loop lets everything go, and takes nothing more.
    mutating func endHome() { (modes, isCommonItem, isHomeOver) = ([], false, true) }

    /// Follows a call, and returns its answer, where it has one.
    mutating func follow(_ call: ItemCall) -> Bool? {
        switch call {
        case .add:
            if canComeHome { modes.insert(.standard) }
            return canComeHome
        case .addCommon:
            guard canComeHome else { return false }
            isCommonItem = true
            modes.formUnion(commonModes)
            return true
        case .addElsewhere:
            guard isValid, kind.isShared || modes.isEmpty else { return false }
            isElsewhere = true
            return true
        case .markCommon:
            commonModes.insert(.fresh)
            if isCommonItem, canComeHome { modes.insert(.fresh) }
        case .remove: modes.remove(.standard)
        case .removeCommon:
            if isCommonItem { modes.subtract(commonModes) }
            isCommonItem = false
        case .removeFromEach: modes = []
        case .removeElsewhere: isElsewhere = false
        case .invalidate:
            // An item that is in no mode stays among the common items.
            if isValid, !modes.isEmpty { isCommonItem = false }
            (isValid, modes, isElsewhere) = (false, [], false)
        case .contains: return modes.contains(.standard)
        case .containsElsewhere: return isElsewhere
        case .describe, .signal, .restart, .setFireInstant, .setTolerance, .setEvents: break
        }
        return nil
    }
}
