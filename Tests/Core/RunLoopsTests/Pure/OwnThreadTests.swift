// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

/// The limit of ``OwnThread``; these tests take such a thread themselves.
@Suite(.limited) struct OwnThreadTests {
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
        let began = ContinuousClock.now
        let trait = OwnThread(limit: plenty * 2) { _, _ in Issue.record("reported") }
        try await trait.provideScope(for: test, testCase: nil) {}
        #expect(ContinuousClock.now - began < plenty)
    }
}
