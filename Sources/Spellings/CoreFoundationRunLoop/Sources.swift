// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
internal import CoreFoundation
internal import RunLoops

/// The Swift object behind a `CFRunLoopSource`: a ``SignalledFace`` or a ``PortFace``, depending on the version of the
/// context.
class SourceFace: ItemFace, @unchecked Sendable {
    @inline(__always)
    static func of(_ source: CFRunLoopSource?, _ function: StaticString) -> SourceFace {
        RLKind.source.face(source, SourceFace.self, function).takeUnretainedValue()
    }

    /// Calls `body` with the source's Swift object without retaining it, for functions that are called often.
    @inline(__always)
    static func with<Result>(
        _ source: CFRunLoopSource?, _ function: StaticString, _ body: (SourceFace) -> Result
    ) -> Result {
        RLKind.source.face(source, SourceFace.self, function)._withUnsafeGuaranteedRef(body)
    }

    // MARK: What each version does its own way

    /// The loop's own source.
    var native: RunLoop.Item { fatalError("Each version of a source has its own.") }
    /// The part of the context that both versions have in common, with the retained `info`.
    var beginning: RLRunLoopSourceContext { fatalError("Each version of a source has its own.") }
    /// The address of the perform function.
    var callout: UnsafeRawPointer? { nil }

    func add(to loop: LoopFace, _ mode: RunLoop.Mode) {}
    func signal() {}
    var isSignalled: Bool { false }
    func copyContext(to context: UnsafeMutableRawPointer) {}

    // MARK: What both do alike

    override func isEqual(to other: Face) -> Bool {
        guard let other = other as? SourceFace else { return false }
        let (mine, others) = (beginning, other.beginning)
        let areAlike =
            native.isValid == other.native.isValid && order == other.order && mine.version == others.version
            && Self.address(mine.hash) == Self.address(others.hash)
            && Self.address(mine.equal) == Self.address(others.equal) && callout == other.callout
        guard areAlike else { return false }
        guard let equal = mine.equal else { return mine.info == others.info }
        return equal(mine.info, others.info)
    }

    override var hash: CFHashCode {
        let context = beginning
        return context.hash?(context.info) ?? CFHashCode(bitPattern: context.info)
    }

    override var summary: String {
        let context = beginning
        let text = context.copyDescription?(context.info)?.takeRetainedValue().text
        return """
            <CFRunLoopSource \(instance)>{signalled = \(Self.describe(isSignalled)), \
            valid = \(Self.describe(native.isValid)), order = \(order), \
            context = \(text ?? "<CFRunLoopSource context>{version = \(context.version), info = \(context.info.map { "\($0)" } ?? "0x0"), callout = \(Self.describe(callout))}")}
            """
    }

    static func address<Function>(_ function: Function?) -> UnsafeRawPointer? {
        function.map { unsafeBitCast($0, to: UnsafeRawPointer.self) }
    }
}

/// The Swift object behind a source of version 0: a thread signals the source, and a loop performs it.
final class SignalledFace: SourceFace, @unchecked Sendable {
    private let context: RLRunLoopSourceContext
    /// The `info`, which is released with the source, and not when the source becomes invalid: CFEqual and CFHash need
    /// it.
    private let info: Info
    private let source: RunLoop.Source

    init(order: CFIndex, _ given: RLRunLoopSourceContext) {
        let info = Info(given.info, retain: given.retain, release: given.release)
        var context = given
        context.info = info.pointer
        self.context = context
        self.info = info
        let instance = RLKind.source.makeInstance()
        let holds = Holds(instance)
        let end = HoldsEnd(holds)
        // The info is the program's, which shares it between the threads that it uses the source on.
        let perform = given.perform
        source = .sendable(
            order: order, schedule: Self.closure(given.schedule, info), cancel: Self.closure(given.cancel, info),
            handler: { _ in
                perform?(info.pointer)
                withExtendedLifetime(end) {}
            })
        super.init(instance, holds, order: order)
    }

    private static func closure(
        _ function: (@convention(c) (UnsafeMutableRawPointer?, CFRunLoop?, CFRunLoopMode?) -> Void)?, _ info: Info
    ) -> (@Sendable (RunLoop, RunLoop.Mode) -> Void)? {
        guard let function else { return nil }
        return { function(info.pointer, $0.coreFoundation, CFRunLoopMode(rawValue: $1.name)) }
    }

    override var native: RunLoop.Item { source }
    override var beginning: RLRunLoopSourceContext { context }
    override var callout: UnsafeRawPointer? { Self.address(context.perform) }

    override func add(to loop: LoopFace, _ mode: RunLoop.Mode) {
        add(source, to: loop) { $0.add(source, in: mode) }
    }

    override func signal() { source.signal() }
    override var isSignalled: Bool { source.isValid && source.isSignalled }

    override func copyContext(to pointer: UnsafeMutableRawPointer) {
        pointer.assumingMemoryBound(to: RLRunLoopSourceContext.self).pointee = context
    }
}
#endif
