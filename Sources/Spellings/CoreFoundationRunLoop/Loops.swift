// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux) && !EXPORTS_ORIGINALS
public import CCoreFoundationRunLoop
public import CoreFoundation
public import RunLoops
internal import Synchronization

/// The Swift object behind a `CFRunLoop`.
final class LoopFace: Face, @unchecked Sendable {
    let native: RunLoop
    let holds: LoopHolds

    init(_ native: RunLoop, _ holds: LoopHolds) {
        self.native = native
        self.holds = holds
        super.init(RLKind.loop.makeInstance())
    }

    /// Whether the item is in any mode, or among the common items.
    func has(_ item: RunLoop.Item) -> Bool {
        native.contains(item, in: .common) || native.modes.contains { native.contains(item, in: $0) }
    }

    override var summary: String { "<CFRunLoop \(instance)>{\n\(native.detailedDescription())\n}" }

    @inline(__always)
    static func of(_ rl: CFRunLoop?, _ function: StaticString) -> LoopFace {
        RLKind.loop.face(rl, LoopFace.self, function).takeUnretainedValue()
    }

    /// Calls `body` with the loop's Swift object without retaining it, for functions that are called often.
    @inline(__always)
    static func with<Result>(
        _ rl: CFRunLoop?, _ function: StaticString, _ body: (LoopFace) -> Result
    ) -> Result {
        RLKind.loop.face(rl, LoopFace.self, function)._withUnsafeGuaranteedRef(body)
    }
}

extension RunLoop {
    /// The loop as a `CFRunLoop`: the same object each time, until the loop's thread ends.
    ///
    /// Thread safety: any thread.
    public var coreFoundation: CFRunLoop {
        let holds = companion { LoopHolds(hasThread: !$0) }
        return holds.instance ?? holds.keep(LoopFace(self, holds).takeInstance(CFRunLoop.self))
    }
}

extension CFRunLoop {
    /// The loop as this package's `RunLoop`, with the members that Core Foundation does not have.
    ///
    /// Thread safety: any thread.
    public var native: RunLoop { LoopFace.of(self, #function).native }
}

// MARK: Loops

/// Returns the type identifier of this library's run loops.
@_cdecl("RLRunLoopGetTypeID")
@discardableResult
public func CFRunLoopGetTypeID() -> CFTypeID { RLKind.loop.typeID }

/// Returns the loop of the calling thread, which is made at the first access.
@discardableResult
public func CFRunLoopGetCurrent() -> CFRunLoop! { RunLoop.current.coreFoundation }

/// Returns the main thread's loop.
@discardableResult
public func CFRunLoopGetMain() -> CFRunLoop! { RunLoop.main.coreFoundation }

/// Whether the loop's thread sleeps, or is about to.
@_cdecl("RLRunLoopIsWaiting")
@discardableResult
public func CFRunLoopIsWaiting(_ rl: CFRunLoop!) -> Bool { LoopFace.with(rl, #function) { $0.native.isWaiting } }

/// Makes the loop turn once more; wakes the loop if it sleeps.
@_cdecl("RLRunLoopWakeUp")
public func CFRunLoopWakeUp(_ rl: CFRunLoop!) { LoopFace.with(rl, #function) { $0.native.wakeUp() } }

/// Ends the innermost run in progress at the end of its turn.
@_cdecl("RLRunLoopStop")
public func CFRunLoopStop(_ rl: CFRunLoop!) { LoopFace.with(rl, #function) { $0.native.stop() } }

// MARK: Modes of a loop

/// Returns the name of the mode of the innermost run in progress; `NULL` if there is none.
@_disfavoredOverload
@discardableResult
public func CFRunLoopCopyCurrentMode(_ rl: CFRunLoop!) -> CFString! {
    LoopFace.of(rl, #function).native.currentMode?.name
}

/// Returns the mode of the innermost run in progress; `nil` if there is none.
@discardableResult
public func CFRunLoopCopyCurrentMode(_ rl: CFRunLoop!) -> CFRunLoopMode! {
    (LoopFace.of(rl, #function).native.currentMode?.name).map { CFRunLoopMode(rawValue: $0) }
}

/// Returns the names of the modes to which something was added.
@discardableResult
public func CFRunLoopCopyAllModes(_ rl: CFRunLoop!) -> CFArray! {
    var callbacks = kCFTypeArrayCallBacks
    let names = LoopFace.of(rl, #function).native.modes.map(\.name)
    let array = CFArrayCreateMutable(nil, names.count, &callbacks)
    // The array retains the names.
    for name in names { CFArrayAppendValue(array, Unmanaged.passUnretained(name).toOpaque()) }
    return array
}

/// Marks `mode` as common.
@_cdecl("RLRunLoopAddCommonMode")
public func CFRunLoopAddCommonMode(_ rl: CFRunLoop!, _ mode: CFString!) {
    do { try LoopFace.of(rl, #function).native.addCommonMode(RunLoop.Mode(mode, #function)) } catch {
        fatalError(
            """
            CFRunLoopAddCommonMode cannot report that the system has refused to add a common source to the mode: \(error). \
            Mark modes before adding sources, or raise RLIMIT_NOFILE.
            """)
    }
}

/// Marks `mode` as common.
public func CFRunLoopAddCommonMode(_ rl: CFRunLoop!, _ mode: CFRunLoopMode!) {
    CFRunLoopAddCommonMode(rl, mode?.rawValue)
}

/// Returns the date at which the next timer of `mode` is due; 0 if there is no timer.
@_cdecl("RLRunLoopGetNextTimerFireDate")
@discardableResult
public func CFRunLoopGetNextTimerFireDate(_ rl: CFRunLoop!, _ mode: CFString!) -> CFAbsoluteTime {
    let mode = RunLoop.Mode(mode, #function)
    if mode == .common { return 0 }
    let next = LoopFace.of(rl, #function).native.nextTimerDeadline(in: mode)
    return next.map { Dates.date(of: $0) } ?? 0
}

/// Returns the date at which the next timer of `mode` is due; 0 if there is no timer.
@discardableResult
public func CFRunLoopGetNextTimerFireDate(_ rl: CFRunLoop!, _ mode: CFRunLoopMode!) -> CFAbsoluteTime {
    CFRunLoopGetNextTimerFireDate(rl, mode?.rawValue)
}

// MARK: Runs

/// Runs the default mode of the calling thread's loop until it is stopped or has nothing left to wait for.
@_cdecl("RLRunLoopRun")
public func CFRunLoopRun() { RunLoop.current.run() }

/// Runs `mode` of the calling thread's loop for `seconds`; if `seconds` is zero or less, for one turn without a sleep.
///
/// More than 16 years mean no limit, as on Apple's systems.
@_cdecl("RLRunLoopRunInMode")
@discardableResult
public func CFRunLoopRunInMode(
    _ mode: CFString!, _ seconds: CFTimeInterval, _ returnAfterSourceHandled: Bool
) -> CFRunLoopRunResult {
    let mode = RunLoop.Mode(mode, #function)
    // A loop cannot run in the common modes. Core Foundation says so in its log, once, and returns.
    if mode == .common { return finishInCommonModes() }
    let result: RunLoop.RunResult
    if seconds <= 0 {
        result = RunLoop.current.runTurn(in: mode, returnsAfterSource: returnAfterSourceHandled)
    } else if seconds <= Dates.maxWait {
        let limit = Duration.nanoseconds(Int64(seconds * 1e9))
        result = RunLoop.current.run(in: mode, for: limit, returnsAfterSource: returnAfterSourceHandled)
    } else {
        result = RunLoop.current.run(in: mode, until: nil, returnsAfterSource: returnAfterSourceHandled)
    }
    switch result {
    case .finished: return .finished
    case .stopped: return .stopped
    case .timedOut: return .timedOut
    case .handledSource: return .handledSource
    }
}

/// Reports on standard error, once in the process, that a run in the common modes has run nothing.
private func finishInCommonModes() -> CFRunLoopRunResult {
    if !saidCommonIsNoMode.exchange(true, ordering: .relaxed) {
        SystemCalls.writeToStandardError(
            """
            RunLoops: a loop was asked to run in the common modes. Common is a mark on modes, not a mode: run in one \
            of them. The run has finished at once. This message appears only once.

            """)
    }
    return .finished
}

private let saidCommonIsNoMode = Atomic<Bool>(false)

/// Runs `mode` of the calling thread's loop for `seconds`; if `seconds` is zero or less, for one turn without a sleep.
@discardableResult
public func CFRunLoopRunInMode(
    _ mode: CFRunLoopMode!, _ seconds: CFTimeInterval, _ returnAfterSourceHandled: Bool
) -> CFRunLoopRunResult {
    CFRunLoopRunInMode(mode?.rawValue, seconds, returnAfterSourceHandled)
}
#endif
