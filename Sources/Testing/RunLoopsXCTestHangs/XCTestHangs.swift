// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsXCTestHangs
internal import Foundation
internal import RunLoops
internal import RunLoopsDiagnostics
internal import RunLoopsLibC
internal import RunLoopsSystem
internal import XCTest

/// Reports tests of XCTest that hang, and goes on with the tests after them.
///
/// A test target that depends on this module needs no more: started with `RUNLOOPS_HANG_AFTER=60` in its environment, it gives
/// each test 60 seconds, and with `RUNLOOPS_HANG_IDLE=10` each test hangs too if the process has used no processor for 10 seconds.
/// Without the first variable nothing is watched, unless a test calls ``report(after:idle:)``.
///
/// If a test has not ended in its time, a report is printed on standard error: tasks that wait for each other, all loops, all tasks,
/// and the stacks of all threads. XCTest cannot end a test, so that the process then executes itself anew, with the tests that come
/// after the hanging one. The results before are printed already, and the process ends with status 1. Files that have no
/// `O_CLOEXEC` remain open, and child processes go on to run.
///
/// Thread safety: any thread.
public enum XCTestHangs {
    /// Watches the tests that begin from now on.
    ///
    /// - Parameters:
    ///   - time: How long a test may take. A time in which the whole process was stopped does not count.
    ///   - idle: The time after which a test is taken to hang if the process uses no processor; `nil` for any time. A
    ///     process that waits for another process, or sleeps, is idle as well.
    /// - Precondition: the times are positive.
    public static func report(after time: Duration, idle: Duration? = nil) {
        precondition(
            time > .zero && idle ?? time > .zero,
            "Tests were given no time to end: give report(after:idle:) positive times.")
        HangObserver.shared.watch(TestWatch.Limit(time: time, idle: idle))
    }
}

/// The observer of XCTest, which watches each test.
final class HangObserver: XCTestObservation, Sendable {
    /// The observer of this process; a forked child runs no tests.
    static let shared = HangObserver()

    private struct State {
        var limit: TestWatch.Limit?
        /// The test under way, and those after it.
        var test: TestWatch.Test?
        var remaining: [TestName] = []
        var isListed = false
        /// The names of the tests that have hung, also in earlier parts of the run.
        var hung: [String] = []
    }

    private let state = Guarded(State())
    private let mask = Guarded(sigset_t())

    private init() {}

    /// Watches the tests that begin from now on.
    func watch(_ limit: TestWatch.Limit) { state.withLock { $0.limit = limit } }

    // MARK: Started by the environment

    private static let timeVariable = "RUNLOOPS_HANG_AFTER"
    private static let idleVariable = "RUNLOOPS_HANG_IDLE"
    /// The variable with the names of the tests that have hung before.
    private static let hungVariable = "RUNLOOPS_HUNG_TESTS"

    /// Called by the C part when the program is loaded.
    fileprivate static func startAtLoad() {
        if let before = ProcessEnvironment.value(of: hungVariable) {
            shared.state.withLock { $0.hung = before.decoded.split(separator: "\n").map(String.init) }
            atexit { HangObserver.shared.endAfterHangs() }
        }
        shared.mask.withLock { _ = pthread_sigmask(SIG_BLOCK, nil, &$0) }
        // Also without a limit: a test may set one, after the list of all tests was there.
        XCTestObservationCenter.shared.addTestObserver(shared)
        if let time = seconds(timeVariable) { shared.watch(TestWatch.Limit(time: time, idle: seconds(idleVariable))) }
    }

    private static func seconds(_ variable: String) -> Duration? {
        guard let text = ProcessEnvironment.value(of: variable)?.decoded else { return nil }
        guard let number = Double(text), number > 0, number <= 1e9 else {
            SystemCalls.writeToStandardError("\(variable): not a positive number of seconds: \(text)\n")
            return nil
        }
        return .seconds(number)
    }

    // MARK: XCTest's calls, on the main thread

    func testSuiteWillStart(_ testSuite: XCTestSuite) {
        let names = TestName.names(in: testSuite)
        state.withLock { state in
            // The first suite has all others.
            if !state.isListed { state.remaining = names }
            state.isListed = true
        }
    }

    func testCaseWillStart(_ testCase: XCTestCase) {
        let name = TestName(testCase)
        let limit = state.withLock { state -> TestWatch.Limit? in
            // A test may be there more than once.
            if let index = state.remaining.firstIndex(of: name) { state.remaining.remove(at: index) }
            return state.limit
        }
        guard let limit else { return }
        let test = try? TestWatch.shared.begin(limit, thread: SystemCalls.threadID) { [self] in hangs(name, $0) }
        state.withLock { $0.test = test }
    }

    func testCaseDidFinish(_ testCase: XCTestCase) {
        if let test = state.withLock({ $0.test.take() }) { TestWatch.shared.end(test) }
    }

    // MARK: A test that hangs

    /// Called on the watching thread.
    private func hangs(_ name: TestName, _ hang: TestHang) {
        SystemCalls.writeToStandardError("\(name): error: \(hang.text)\n\(hang.report)Test Case '\(name)' hangs.\n")
        let (remaining, hung) = state.withLock { state in
            state.hung.append("\(name)")
            return (state.remaining, state.hung)
        }
        if !remaining.isEmpty { execute(remaining, after: name, hung) }
        endAfterHangs()
    }

    /// Executes the program with the tests; returns only if that fails.
    private func execute(_ tests: [TestName], after last: TestName, _ hung: [String]) {
        let rest = tests.count == 1 ? "the last test" : "\(tests.count) tests"
        SystemCalls.writeToStandardError("The process goes on with \(rest).\n")
        let arguments = [CommandLine.arguments.first ?? "tests", TestName.argument(tests, after: last)]
        let own = "\(Self.hungVariable)="
        let others = ProcessEnvironment.variables().filter { !$0.decoded.hasPrefix(own) }
        let variables = others + [SystemText(prefixOf: (own + hung.joined(separator: "\n")).utf8)]
        var argumentList: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var variableList: [UnsafeMutablePointer<CChar>?] = variables.map { $0.withCString { strdup($0) } } + [nil]
        // This thread takes no signals; the program's main thread does.
        mask.withLock { _ = pthread_sigmask(SIG_SETMASK, &$0, nil) }
        execve("/proc/self/exe", &argumentList, &variableList)
        let error = RunLoop.SystemCallError(call: "execve", code: errno)
        SystemCalls.writeToStandardError("The other tests cannot be run: \(error)\n")
    }

    private func endAfterHangs() {
        let hung = state.withLock { $0.hung }
        SystemCalls.writeToStandardError(
            "\(hung.count == 1 ? "A test hung" : "\(hung.count) tests hung"): \(hung.joined(separator: ", "))\n")
        _exit(EXIT_FAILURE)
    }
}

/// The name of a test, as it is selected on the command line.
struct TestName: Hashable, CustomStringConvertible {
    let suite: String
    let method: String

    init(_ test: XCTestCase) {
        suite = String(reflecting: type(of: test))
        // "Class.method"
        method = test.name.lastIndex(of: ".").map { String(test.name[$0...].dropFirst()) } ?? test.name
    }

    var description: String { "\(suite)/\(method)" }

    static func names(in suite: XCTestSuite) -> [TestName] {
        suite.tests.flatMap { test -> [TestName] in
            if let suite = test as? XCTestSuite { return names(in: suite) }
            return (test as? XCTestCase).map { [TestName($0)] } ?? []
        }
    }

    /// The maximum length of an argument of a program in bytes, which the kernel limits.
    private static let maxArgumentLength = 120_000

    /// Returns the argument that selects the tests after one.
    static func argument(_ tests: [TestName], after last: TestName) -> String {
        var argument = ""
        for (index, test) in tests.enumerated() {
            let word = "\(index == 0 ? "" : ",")\(test)"
            if argument.utf8.count + word.utf8.count > maxArgumentLength {
                // A class as a whole takes less room. The class of the last test would run that one again.
                let suites = Set(tests[index...].map(\.suite)).subtracting([last.suite])
                let rest = suites.sorted().map { ",\($0)" }.joined()
                return argument + rest
            }
            argument += word
        }
        return argument
    }
}

@_cdecl("run_loops_watch_tests_at_load")
func watchTestsAtLoad() { HangObserver.startAtLoad() }
