// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
internal import CoreFoundation
internal import RunLoops

/// The Swift object behind the instance of a timer, an observer or a source.
class ItemFace: Face, @unchecked Sendable {
    /// The references of loops to the instance.
    let holds: Holds
    let order: CFIndex

    init(_ instance: UnsafeMutableRawPointer, _ holds: Holds, order: CFIndex) {
        self.holds = holds
        self.order = order
        super.init(instance)
    }

    /// Adds the item to a loop by calling `add`, and makes the loop keep the instance if `add` returns that the loop
    /// has the item.
    @inline(__always)
    func add(_ item: @autoclosure () -> RunLoop.Item, to loop: LoopFace, _ add: (RunLoop) -> Bool) {
        // First the hold: the loop may call the item before `add` returns. Usually the hold is still there afterwards.
        let isNew = holds.take(for: loop.holds)
        let isIn = add(loop.native)
        let isSettled = isIn ? !holds.take(for: loop.holds) : !isNew
        if !isSettled { settle(item(), loop) }
    }

    /// Removes an item from a mode; a loop that has the item in no other mode releases the instance.
    func remove(_ item: RunLoop.Item, from mode: RunLoop.Mode, of loop: LoopFace) {
        loop.native.remove(item, from: mode)
        settle(item, loop)
    }

    /// Makes the loop keep the instance if it has the item, and release the instance otherwise.
    ///
    /// Another thread may add or remove the item meanwhile. Each thread checks again after its own change, so that the
    /// last of them leaves the right state.
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

    /// Returns the name of a C function and its address, or `???` and the address if the dynamic linker does not know
    /// the name.
    static func describe(_ function: UnsafeRawPointer?) -> String {
        guard let function else { return "a block" }
        return "\(rl_function_name(function).map { String(cString: $0) } ?? "???") (\(function))"
    }

    static func describe(_ flag: Bool) -> String { flag ? "Yes" : "No" }
}

/// The `info` of a timer, an observer or a source, retained and released with the functions of its context.
///
/// The closure of a timer or an observer owns this object, because Core Foundation releases their `info` when the item
/// becomes invalid. A call of the closure keeps this object alive.
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
