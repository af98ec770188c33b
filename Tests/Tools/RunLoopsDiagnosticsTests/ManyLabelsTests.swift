// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoops
@testable import RunLoopsDiagnostics

/// Labels of more items than a table of labels has room for.
@Suite(.ownThread) struct ManyLabelsTests {
    private static let most = 20_000

    @Test func `Tens of thousands of items with one label keep their label and place`() {
        let reports = reports { _ in "child" }
        #expect(reports.count == Self.most)
        #expect(Set(reports.map(\.label)) == ["child"])
        #expect(Set(reports.map(\.place)) == ["Program/Main.swift:7"])
    }

    @Test func `Tens of thousands of different labels are all reported`() {
        let reports = reports { $0 % 2 == 0 ? "child" : "child \($0)" }
        #expect(reports.count == Self.most)
        #expect(reports.count { $0.label == "child" } == Self.most / 2)
        for (number, report) in reports.enumerated() where number % 2 == 1 {
            #expect(report.label == "child \(number)")
        }
    }

    @Test func `The texts of unused labels are released, and the texts of labels in use are kept`() throws {
        let keeper = LabelKeeper()
        let holder = Holder()
        keeper.add(holder)
        let first = keeper.keep(ItemLabel("first"))
        holder.words = [first.label]
        for number in 0..<100_000 {
            let kept = keeper.keep(ItemLabel("number \(number)"))
            #expect(LabelKeeper.text(kept.label, kept.line) == "number \(number)")
            #expect(keeper.count <= 6144)
        }
        #expect(LabelKeeper.text(first.label, first.line) == "first")
        // While somebody reads, nothing is released.
        let count = keeper.reading {
            for number in 0..<20_000 { _ = keeper.keep(ItemLabel("more \(number)")) }
            return keeper.count
        }
        #expect(count >= 20_000)
        _ = keeper.keep(ItemLabel("last"))
        #expect(keeper.count <= 6144)
    }

    @Test func `A timer keeps its label in statistics and traces while thousands of labels come into use`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let stream = try #require(LoopStream.of(loop))
            let meter = LoopMeter(stream.state)
            stream.add(meter)
            let recorder = LoopRecorder(loop, stream.state, capacity: 1024)
            stream.add(recorder)
            let poll = RunLoop.Timer(.every(.seconds(30)), label: "poll") { _ in
                (loop.kernel as? ManualKernel)?.elapse(.milliseconds(2))
            }
            var visitors = 0
            let door = RunLoop.Timer(.every(.seconds(10)), label: "door") { _ in
                visitors += 1
                // Each with a name of its own, as connections and children have.
                loop.add(RunLoop.Timer(.after(.seconds(1)), label: "visitor \(visitors)") { _ in }, in: .default)
            }
            for timer in [poll, door] { loop.add(timer, in: .default) }
            // Two days have more names than are kept unused.
            let days = isThorough ? 30 : 2
            manual.advance(by: .seconds(days * 86_400))
            let statistics = meter.read().statistics
            #expect(visitors == days * 8640 - 1 || visitors == days * 8640)
            #expect(statistics.dearest.first?.label == "poll")
            #expect(statistics.dearest.first?.count == statistics.dearest.first.map { UInt64($0.total / 2_000_000) })
            #expect(statistics.dearest.contains { $0.label == "door" })
            #expect(statistics.notAssigned > UInt64(visitors * 9 / 10))
            let counted = statistics.dearest.reduce(0) { $0 + $1.count } + statistics.notAssigned
            #expect(counted == statistics.callouts.values.reduce(0, +))
            // The trace of the last moments names everything in it.
            let labels = recorder.read().loop.events.compactMap { event -> String? in
                guard case .calloutBegan(_, let label) = event.kind else { return nil }
                return label
            }
            #expect(labels.contains("poll") && labels.contains("door"))
            #expect(labels.contains { $0.hasPrefix("visitor \((visitors - 50) / 100)") })
            #expect(!labels.contains { $0.isEmpty || $0.contains("too many") })
            stream.remove(meter)
            stream.remove(recorder)
        }
    }

    private final class Holder: LabelHolder, @unchecked Sendable {
        var words: [UInt64] = []
        func visitLabels(_ visit: (UInt64) -> Void) { words.forEach(visit) }
    }

    /// What a watch reports of as many timers, made and fired one after the other.
    private func reports(label: @escaping @Sendable (Int) -> String) -> [RunLoop.Watch.SlowCallout] {
        let reports = Locked<[RunLoop.Watch.SlowCallout]>([])
        let thread = TestThread {
            let loop = RunLoop.current
            let watch = RunLoop.Watch(limits: [.timer: .zero], pause: .zero) { event in
                if case .slowCallout(let slow) = event { reports.withLock { $0.append(slow) } }
            }
            watch.add(loop)
            for number in 0..<Self.most {
                let timer = RunLoop.Timer(
                    .after(.zero), label: label(number), fileID: "Program/Main.swift", line: 7
                ) { _ in }
                loop.add(timer, in: .default)
                loop.run(in: .default, for: .seconds(60))
            }
            watch.stop()
        }
        thread.join()
        return reports.withLock { $0 }
    }
}

extension ManualKernel {
    /// Lets time pass in a callout.
    fileprivate func elapse(_ duration: Duration) { advance(to: now(.monotonic) + duration.clampedNanoseconds) }
}
