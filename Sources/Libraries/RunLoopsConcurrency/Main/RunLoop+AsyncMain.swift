// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

extension RunLoop {
    /// Keeps the main actor of an async `main` on the main thread, with the main loop running under it.
    ///
    /// Call it as the first line of `main`, before anything is awaited:
    ///
    /// ```swift
    /// @main struct App {
    ///     static func main() async {
    ///         RunLoop.adoptMain()
    ///         …
    ///     }
    /// }
    /// ```
    ///
    /// When `main` is suspended for the first time, the main thread runs `RunLoop.main` in the default mode, and does
    /// so until the process ends. Timers, sources, `DispatchQueue.main`, `@MainActor` and `Task.sleep` all work, and
    /// every part of `main` runs on the main thread. Without this line Swift gives the main thread to libdispatch,
    /// which ends it. The main actor then runs on a thread of libdispatch's, and no timer of the main loop fires. If the
    /// main loop has items by then, or is used later, a line on standard error says so.
    ///
    /// The process ends as it does without the line: when `main` returns or throws, or when some code calls `exit`. A
    /// `stop()` of the main loop ends a run that is nested in the main thread's own run; the main thread's own run goes
    /// on.
    ///
    /// The line sets a variable that Swift's runtime exports for this purpose;
    /// Documentation/Decisions/0020-async-main.md says what happens to it when Swift has an interface of its own. A
    /// second call does nothing, and neither does a call in a program that links `RunLoopsMainActor`. A library that
    /// sets the variable later gets the main thread instead, unnoticed.
    ///
    /// Core Foundation has no counterpart: on Apple's systems the main thread keeps its loop.
    /// - Precondition: called on the main thread, before `main` has been suspended; no other library has set the
    ///   variable; the main actor's executor is libdispatch's main queue or the main loop's. A violation traps, and the
    ///   message says what to do.
    public static func adoptMain() {
        require(
            SystemCalls.threadID == SystemCalls.mainThreadID,
            "RunLoop.adoptMain() was called on thread \(SystemCalls.threadID), not on the main thread: make it the first line of main, before the first await."
        )
        if let executor = foreignMainExecutor() {
            fatalError(
                "RunLoop.adoptMain() was called, and the main actor's executor is \(executor): neither libdispatch's main queue nor the main loop's, so that the main loop would run none of the main actor's jobs. Link RunLoopsMainActor, or use a synchronous main with RunLoop.runMain(mainExecutor: .runLoop): both make the main loop's executor the main actor's."
            )
        }
        takeMainThread()
    }

    /// The main actor's executor, in words, if the main loop does not serve it; `nil` if the loop does.
    ///
    /// A toolchain may give the main actor another executor than libdispatch's main queue, and so may a library.
    private static func foreignMainExecutor() -> String? {
        switch rl_main_executor_owner() {
        case 0: foreignMainExecutor(MainActor.sharedUnownedExecutor)
        case 1: nil
        default: "another library's"
        }
    }

    /// Returns the description of `executor` if the main loop does not serve it; `nil` if the loop does.
    static func foreignMainExecutor(_ executor: UnownedSerialExecutor) -> String? {
        // SAFETY: two words, of which the first is the executor's object; Swift's own executors are objects of Swift.
        let identity = unsafeBitCast(executor, to: rl_executor.self).identity
        guard let object = UnsafeRawPointer(bitPattern: UInt(identity)) else { return "none" }
        let found = Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
        let name = "\(type(of: found))"
        return found is Executor || name.contains("Dispatch") ? nil : name
    }

    /// Makes the main loop run on the main thread, once main is suspended.
    static func takeMainThread() {
        switch rl_async_main_set_drain({ runMainForever() }) {
        case 0: break
        case -EBUSY:
            fatalError(
                "The main loop was to keep the main thread of an async main (by RunLoop.adoptMain() or RunLoopsMainActor), and another library has set swift_task_asyncMainDrainQueue_hook already: only one of them can have the thread. Use a synchronous main with RunLoop.runMain instead."
            )
        default:
            fatalError(
                "The main loop was to keep the main thread of an async main (by RunLoop.adoptMain() or RunLoopsMainActor), and this Swift runtime has no swift_task_asyncMainDrainQueue_hook: use a synchronous main with RunLoop.runMain instead."
            )
        }
    }

    /// Runs an async function on the main actor, with the main loop running under it, and ends the process with it.
    ///
    /// For a program with a synchronous `main`. It does what an async `main` with ``adoptMain()`` does: the process
    /// ends with status 0 when `body` returns; when `body` throws, the error is written to standard error, and the
    /// status is 1. With the main queue as main executor the call uses nothing except the documented interfaces of
    /// Swift and this package.
    ///
    /// - Parameters:
    ///   - mainExecutor: The executor of the main actor. An async `main` gets ``MainExecutor/runLoop`` by linking
    ///     `RunLoopsMainActor`, because the executor has to be in place before the first line of `main`.
    ///   - body: The program.
    ///
    /// Corresponds to `NSApplicationMain` and similar calls, which run `CFRunLoopRun`.
    /// - Precondition: called on the main thread; any other traps. For ``MainExecutor/runLoop``, no other library has
    ///   replaced the main actor's executor, and the runtime lets it be replaced; otherwise the call traps, and the
    ///   message says what to do.
    @available(*, noasync, message: "An async main has a main thread to keep: make RunLoop.adoptMain() its first line.")
    public static func runMain(
        mainExecutor: MainExecutor = .mainQueue, _ body: @escaping @Sendable @MainActor () async throws -> Void
    ) -> Never {
        require(
            SystemCalls.threadID == SystemCalls.mainThreadID,
            "RunLoop.runMain was called on thread \(SystemCalls.threadID), not on the main thread: call it from main.")
        if mainExecutor == .runLoop { replaceMainExecutor() }
        Task { @MainActor in
            do {
                try await body()
                exit(EXIT_SUCCESS)
            } catch {
                SystemCalls.writeToStandardError("Error: \(error)\n")
                exit(EXIT_FAILURE)
            }
        }
        runMainForever()
    }
}

/// The main loop is never without work, since the main queue may always bring some; only a stop ends a run.
private func runMainForever() -> Never {
    while true { RunLoop.main.run(in: .default, until: nil) }
}
