// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

/// What is done again and again keeps no memory.
///
/// Each operation runs in a process of its own, whose heap nobody else uses.
@Suite(
    .ownThread,
    .disabled(if: Sanitizer.isAny, "a sanitizer has a heap of its own, and finds what is lost itself"))
struct MemoryProcessTests {
    /// Does `operation` often, and expects that no piece of memory is kept for each: the smallest takes 32 bytes.
    private static func expectNothingKept(
        sourceLocation: SourceLocation = #_sourceLocation, _ operation: (RunLoop) -> Void
    ) {
        let loop = RunLoop.current
        func bytesAfter(_ rounds: Int) -> Int {
            for _ in 0..<rounds { operation(loop) }
            return residentBytes()
        }
        // What grows on demand, and shrinks late, has its size after the first rounds.
        let before = bytesAfter(20_000)
        let kept = bytesAfter(50_000) - before
        #expect(kept < 50_000 * 16, "kept \(kept) bytes in 50,000 rounds", sourceLocation: sourceLocation)
    }

    @Test func `Setting a tolerance leaks no memory`() async {
        await #expect(processExitsWith: .success) {
            // With an interval, and longer than the short way can say: both are kept outside the timer.
            let repeating = RunLoop.Timer(.every(.seconds(3600))) { _ in }
            let once = RunLoop.Timer(.after(.seconds(3600)), tolerance: .seconds(60)) { _ in }
            Self.expectNothingKept { loop in
                loop.add(repeating, in: .default)
                repeating.tolerance = .seconds(6)
                once.tolerance = .seconds(7)
            }
            #expect(repeating.tolerance == .seconds(6) && once.tolerance == .seconds(7))
        }
    }

    @Test func `An ended timer leaks no memory`() async {
        await #expect(processExitsWith: .success) {
            Self.expectNothingKept { loop in
                for tolerance in [Duration.zero, .seconds(5)] {
                    _ = RunLoop.Timer(.every(.seconds(60)), tolerance: tolerance) { _ in }
                    let cancelled = RunLoop.Timer(.after(.seconds(60)), tolerance: tolerance) { _ in }
                    loop.add(cancelled, in: .common)
                    cancelled.restart(after: .seconds(3))
                    cancelled.invalidate()
                    loop.add(RunLoop.Timer(.after(.zero), tolerance: tolerance) { _ in }, in: .default)
                }
                _ = loop.runReady()
            }
        }
    }

    @Test func `A called or cancelled closure leaks no memory`() async {
        await #expect(processExitsWith: .success) {
            Self.expectNothingKept { loop in
                let token = Token()
                loop.perform { withExtendedLifetime(token) {} }
                loop.perform(after: .zero) { withExtendedLifetime(token) {} }
                loop.cancel(loop.perform(after: .seconds(60), in: .common) { withExtendedLifetime(token) {} })
                _ = loop.runReady()
            }
        }
    }

    @Test func `An invalidated source or observer leaks no memory`() async {
        await #expect(processExitsWith: .success) {
            Self.expectNothingKept { loop in
                let source = RunLoop.Source { _ in }
                loop.add(source, in: .common)
                source.signal()
                let observer = RunLoop.Observer(.all) { _, _ in }
                loop.add(observer, in: .default)
                _ = loop.runReady()
                source.invalidate()
                observer.invalidate()
            }
        }
    }
}
