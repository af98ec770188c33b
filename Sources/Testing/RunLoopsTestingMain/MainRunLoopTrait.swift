// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsTestingMain
internal import RunLoops
internal import RunLoopsConcurrency
public import Testing

/// Runs a test with a live main loop.
///
/// Under Swift Testing on Linux the main thread belongs to libdispatch, which ends it, so that no timer of the main
/// loop ever fires. A test target that depends on this module gets the main thread back, for all its tests: the main
/// loop runs on the main thread in the default mode, with `DispatchQueue.main` and `@MainActor`, from before the first
/// test to the end. The trait says that a test needs the main loop, waits until the loop is there, and records an issue
/// where the loop cannot be there:
///
/// ```swift
/// @Test(.mainRunLoop) func `The screen is drawn after a tick`() async { … }
/// ```
///
/// Tests share the main thread and run beside each other; a test that needs the thread for itself belongs in a
/// serialized suite.
///
/// XCTest runs its tests on the main thread, in no run loop of this package: there, wait with
/// `RunLoop.run(in:until:)`, which runs the loop meanwhile.
public struct MainRunLoopTrait: TestTrait, SuiteTrait, TestScoping {
    /// Always `true`: the trait of a suite applies to all its tests.
    public var isRecursive: Bool { true }

    /// Waits until the main loop runs, and then runs the test.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard rl_main_loop_at_load() == 0 else {
            Issue.record(
                """
                The main loop does not run: swift_task_asyncMainDrainQueue_hook, which gives it the main thread, is not in \
                this Swift runtime, or another library has set it.
                """)
            return
        }
        // The runner may have begun its tests before it gave the main thread away.
        try await RunLoop.main.result {}
        try await function()
    }
}

extension Trait where Self == MainRunLoopTrait {
    /// The trait of a test that needs a running main loop.
    public static var mainRunLoop: Self { Self() }
}

/// The C part calls this on the main thread, when the runner has given that thread away.
@_cdecl("run_loops_testing_main")
func runLoopsTestingMain() {
    while true { RunLoop.main.run(in: .default, until: nil) }
}
