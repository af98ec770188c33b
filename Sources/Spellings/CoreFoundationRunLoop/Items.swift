// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
internal import CoreFoundation
internal import RunLoops

/// The face of a timer, an observer or a source.
class ItemFace: Face, @unchecked Sendable {
    /// Which loops hold the instance.
    let holds: Holds
    let order: CFIndex

    init(_ instance: UnsafeMutableRawPointer, _ holds: Holds, order: CFIndex) {
        self.holds = holds
        self.order = order
        super.init(instance)
    }

    /// Adds the item to a loop by `add`, which returns whether the loop has it, and makes the loop hold the instance.
    @inline(__always)
    func add(_ item: @autoclosure () -> RunLoop.Item, to loop: LoopFace, _ add: (RunLoop) -> Bool) {
        // First the hold: the loop may call the item before `add` returns. Usually the hold is still there afterwards.
        let isNew = holds.take(for: loop.holds)
        let isIn = add(loop.native)
        let isSettled = isIn ? !holds.take(for: loop.holds) : !isNew
        if !isSettled { settle(item(), loop) }
    }

    /// Takes an item out of a mode; the loop that has it in no other mode lets go of the instance.
    func remove(_ item: RunLoop.Item, from mode: RunLoop.Mode, of loop: LoopFace) {
        loop.native.remove(item, from: mode)
        settle(item, loop)
    }

    /// Makes the loop hold the instance if it has the item, and release it otherwise.
    ///
    /// Another thread may add or remove the item meanwhile. Each thread looks again after what it has done, so that the
    /// last of them leaves what is right.
    @inline(never)
    private func settle(_ item: RunLoop.Item, _ loop: LoopFace) {
        var isIn = loop.has(item)
        while true {
            if isIn { _ = holds.take(for: loop.holds) } else { holds.release(for: loop.holds) }
            let isStillIn = loop.has(item)
            if isStillIn == isIn { return }
            isIn = isStillIn
        }
    }

    // MARK: Descriptions

    /// The name of a C function and its address, as far as the dynamic linker knows them.
    static func describe(_ function: UnsafeRawPointer?) -> String {
        guard let function else { return "a block" }
        return "\(rl_function_name(function).map { String(cString: $0) } ?? "???") (\(function))"
    }

    static func describe(_ flag: Bool) -> String { flag ? "Yes" : "No" }
}

/// The `info` of a timer or an observer, retained as its context says.
///
/// The item's closure owns the object: Core Foundation releases the `info` of a timer or an observer when the item
/// becomes invalid. A call of the closure keeps both alive.
final class Info: @unchecked Sendable {
    // SAFETY: constants. What `info` points to is the program's, which calls it from the loop's thread.
    let pointer: UnsafeMutableRawPointer?
    private let release: (@convention(c) (UnsafeRawPointer?) -> Void)?

    init(
        _ pointer: UnsafeMutableRawPointer?, retain: (@convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer?)?,
        release: (@convention(c) (UnsafeRawPointer?) -> Void)?
    ) {
        self.pointer = retain.map { UnsafeMutableRawPointer(mutating: $0(pointer)) } ?? pointer
        self.release = release
    }

    deinit { release?(pointer) }
}
#endif
