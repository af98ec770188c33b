/// The modes that a block may run in, as one number: that of its mode, or, for several, that of a list.
///
/// Lists are interned like names: a program has a handful, and they are kept until the process ends.
package struct BlockModes: Equatable, Sendable {
    private static let isList: UInt32 = 1 << 31
    private static let lists = Numbering<[RunLoopMode]>()

    private let number: UInt32

    @inline(__always)
    package init(_ mode: RunLoopMode) { number = mode.number }

    /// Precondition: at least one mode.
    package init(_ modes: [RunLoopMode]) {
        number = modes.count == 1 ? modes[0].number : Self.lists.number(of: modes) | Self.isList
    }

    /// Whether a run in `running`, which is marked as common or not, is in one of them.
    @inline(__always)
    func includes(_ running: RunLoopMode, isCommon: Bool) -> Bool {
        if number == running.number { return true }
        if number & Self.isList == 0 { return isCommon && number == RunLoopMode.common.number }
        return listIncludes(running, isCommon)
    }

    @inline(never)
    private func listIncludes(_ running: RunLoopMode, _ isCommon: Bool) -> Bool {
        all.contains { $0 == running || (isCommon && $0 == .common) }
    }

    var all: [RunLoopMode] {
        number & Self.isList == 0 ? [RunLoopMode(number: number)] : Self.lists[number & ~Self.isList]
    }
}
