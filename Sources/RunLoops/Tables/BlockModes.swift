// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The modes that a block may run in, as one number: the number of its mode, or, for several modes, the number of a
/// list.
///
/// Lists are interned like names: a program has a few lists, and they are kept until the process ends.
package struct BlockModes: Equatable, Sendable {
    private static let isList: UInt32 = 1 << 31
    private static let lists = InternTable<[RunLoop.Mode]>()

    private let number: UInt32

    @inline(__always)
    package init(_ mode: RunLoop.Mode) { number = mode.number }

    /// - Precondition: at least one mode.
    package init(_ modes: [RunLoop.Mode]) {
        number = modes.count == 1 ? modes[0].number : Self.lists.number(of: modes) | Self.isList
    }

    /// Whether a run in `running`, which is marked as common or not, is in one of the modes.
    @inline(__always)
    func includes(_ running: RunLoop.Mode, isCommon: Bool) -> Bool {
        if number == running.number { return true }
        if number & Self.isList == 0 { return isCommon && number == RunLoop.Mode.common.number }
        return listIncludes(running, isCommon)
    }

    @inline(never)
    private func listIncludes(_ running: RunLoop.Mode, _ isCommon: Bool) -> Bool {
        all.contains { $0 == running || (isCommon && $0 == .common) }
    }

    var all: [RunLoop.Mode] {
        number & Self.isList == 0 ? [RunLoop.Mode(number: number)] : Self.lists[number & ~Self.isList]
    }
}
