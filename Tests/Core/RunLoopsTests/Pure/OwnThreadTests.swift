// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

/// The limit of ``OwnThread``.
///
/// These tests take such a thread themselves, and have no limit while they wait for it.
@Suite struct OwnThreadTests {
    @Test func `a test that does not end on its thread is reported and cancelled`() async throws {
        let test = try #require(Test.current)
        let reports = Locked<[String]>([])
        let trait = OwnThread(limit: .milliseconds(1)) { test, limit in
            reports.withLock { $0.append("\(Test.current?.id == test.id) \(limit)") }
        }
        await #expect(throws: CancellationError.self) {
            try await trait.provideScope(for: test, testCase: nil) { try await Task.sleep(for: plenty) }
        }
        #expect(reports.copy == ["true 0.001 seconds"])
    }

    @Test func `a test that ends on its thread is not reported, and the limit is no longer waited for`() async throws {
        let test = try #require(Test.current)
        // A year: if the limit were waited for, the test would fail by its own.
        let trait = OwnThread(limit: .seconds(365 * 86_400)) { _, _ in Issue.record("reported") }
        try await trait.provideScope(for: test, testCase: nil) {}
    }
}
