// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsDiagnostics
internal import RunLoopsLibC
internal import Synchronization
public import Testing

/// Ends a test that hangs, and says why it hangs.
///
/// ```swift
/// @Suite(.reportsHang(after: .seconds(30)))
/// struct StationTests { … }
/// ```
///
/// If a test has not ended in its time, the trait prints a report on standard error: what the test's task waits for, tasks that
/// wait for each other, all loops, all tasks, and the stacks of all threads. The test fails with an issue at its line, which
/// has the part about this test, and with the whole report as the attachment `hang.txt`. The other tests go on: the test
/// is cancelled and left alone. What it has blocked remains blocked until the process ends.
///
/// The test runs as a task that prefers an executor of its own, so that a test which blocks its thread takes no thread of
/// Swift's pool away. If unstructured tasks of hanging tests have blocked all threads of that pool, no test can go on:
/// the process then ends with status 1: ten seconds after the report, or after the test's time once more if that is longer.
///
/// The trait of a suite applies to all its tests. If a test has a trait of its own, only that one applies.
///
/// The trait wakes no thread of a test. Until a test hangs, nothing is recorded.
public struct HangReportTrait: TestTrait, SuiteTrait, TestScoping {
    @TaskLocal private static var current: TestWatch.Test?
    private static let number = Atomic<Int>(0)

    private let limit: TestWatch.Limit

    /// Always `true`: the trait of a suite applies to all its tests.
    public var isRecursive: Bool { true }

    init(_ limit: TestWatch.Limit) { self.limit = limit }

    /// Runs the test until it ends or hangs.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // The trait of the suite has begun before.
        if let outer = Self.current { TestWatch.shared.end(outer) }
        let number = Self.number.wrappingAdd(1, ordering: .relaxed).newValue
        let run = TestRun("test \(number), \(test.displayName ?? test.name)", limit)
        let body = KeptBody(function)
        let hang = try await run.perform { watched in
            try await Self.$current.withValue(watched) { try await body.call() }
        }
        guard let hang else { return }
        Attachment.record(hang.report, named: "hang.txt", sourceLocation: test.sourceLocation)
        Issue.record(Comment(rawValue: hang.text), sourceLocation: test.sourceLocation)
    }
}

extension Trait where Self == HangReportTrait {
    /// The trait of a test that must end in time.
    ///
    /// - Parameters:
    ///   - time: How long the test may take from its beginning on. A time in which the whole process was stopped does not count.
    ///   - idle: The time after which a test is taken to hang if the process uses no processor; `nil` for any time. A
    ///     process that waits for another process, or sleeps, is idle as well.
    /// - Precondition: the times are positive.
    public static func reportsHang(after time: Duration, idle: Duration? = nil) -> Self {
        precondition(
            time > .zero && idle ?? time > .zero, "A test was given no time to end: give reportsHang positive times.")
        return Self(TestWatch.Limit(time: time, idle: idle))
    }
}
