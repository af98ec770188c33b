// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

/// The programs that hang, built beside the tests.
let hangPrograms = BuiltPrograms.path("RunLoopsHangPrograms")

let isFull = getenv("RUNLOOPS_FULL").map { String(cString: $0) } == "1"

/// What a shell's command prints.
func shell(_ command: String) -> String {
    guard let stream = popen(command, "re") else { return "" }
    defer { pclose(stream) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
}

/// Whether a machine with too much to do is the cause of a report: a processor was missing, or a page that is read from the disk.
func isOfMachine(_ report: some StringProtocol) -> Bool {
    report.contains("the thread got no processor") || report.contains("waits for a page of memory")
}

/// Whether that is so for a program that neither reads nor writes: the thread may also have waited for a processor for a part of the time,
/// with another cause.
func isOfMachine(ended report: some StringProtocol) -> Bool {
    func number(_ name: String) -> Int {
        guard let place = report.firstRange(of: "\"\(name)\":") else { return 0 }
        return Int(String(report[place.upperBound...].prefix { $0.isNumber })) ?? 0
    }
    return isOfMachine(report) || number("processorDelay") * 4 >= number("duration")
}

@Suite("A watched program", .ownThread, .enabled(if: hangPrograms != nil))
struct HangProcessTests {
    private func play(_ scene: String) -> String { shell("exec timeout 400 '\(hangPrograms ?? "")' \(scene) 2>&1") }

    /// The two reports of the hang in callouts with that label; a machine with too much to do may cause others.
    private func hang(_ scene: String, _ label: String, isStarved: Bool = false) throws -> (
        began: String, ended: String
    ) {
        var reports = try hangOnce(scene, label)
        // The machine may have too much to do in the middle of this hang, too.
        for _ in 0..<20 where !isStarved && isOfMachine(reports.began + reports.ended) {
            reports = try hangOnce(scene, label)
        }
        return reports
    }

    private func hangOnce(_ scene: String, _ label: String) throws -> (began: String, ended: String) {
        let lines = play(scene).split(separator: "\n").map(String.init)
        let own = lines.filter { $0.contains(#""label":"\#(label)"#) }
        let began = own.filter { $0.hasPrefix(#"{"stage":"began""#) }
        let ended = own.filter { $0.hasPrefix(#"{"stage":"ended""#) }
        try #require(began.count == 1 && ended.count == 1, "\(lines)")
        #expect(!lines.contains { $0.contains("interrupted") }, "the program was not changed")
        return (began[0], ended[0])
    }

    @Test func `a program that sleeps in a callout is reported as waiting for time`() throws {
        let (began, ended) = try hang("sleep", "napper")
        for report in [began, ended] {
            #expect(report.contains(#""cause":"one callout waits for time to pass""#))
            #expect(
                report.contains(#""callout":{"kind":"timer","label":"napper","place":"RunLoopsHangPrograms/Program"#))
            #expect(report.contains("takeANap(Swift.Duration)"))
            #expect(!report.contains("RUNLOOP_IS"), "the loop's own functions say nothing")
        }
    }

    @Test func `a program that computes in a callout is reported as computing`() throws {
        let (_, ended) = try hang("spin", "spinner")
        #expect(ended.contains(#""cause":"one callout computes""#))
        #expect(ended.contains(#""callout":{"kind":"timer","label":"spinner""#))
        // The thread sanitizer holds signals back.
        #expect(ended.contains("spinHard(Swift.Duration)") || dlsym(nil, "__tsan_init") != nil)
    }

    @Test func `a program that waits for another thread's lock is reported as waiting for a lock`() throws {
        let (began, ended) = try hang("lock", "locker")
        #expect(began.contains(#""label":"locker""#))
        #expect(ended.contains(#""cause":"one callout waits for a lock, or another thread""#))
        #expect(ended.contains("waitForTheLock()"))
    }

    @Test func `a program that has ten thousand short callouts is reported as congestion`() throws {
        let (_, ended) = try hang("tiny", "RunLoopsHangPrograms/Program.swift")
        #expect(ended.contains(#""cause":"many callouts, none of which is responsible""#))
        #expect(ended.contains(#""callouts":1000"#))
        #expect(ended.contains(#""callout":{"kind":"block","label":"RunLoopsHangPrograms/Program.swift:"#))
        #expect(ended.contains(#""count":9000}"#), "the commonest, counted")
    }

    @Test func `tasks that wait for each other while the main loop sleeps are reported once`() throws {
        let lines = play("ring").split(separator: "\n").map(String.init)
        let reports = lines.filter { $0.contains(#""cause":"tasks wait for each other""#) }
        try #require(reports.count == 1, "\(lines)")
        #expect(reports[0].contains(#"\"knot 0\" and task "#))
        #expect(reports[0].contains(#"\"knot 1\" wait for each other"]"#))
        #expect(reports[0].contains(#""stage":"began""#) && reports[0].contains(#""isMain":1"#))
    }

    @Test func `a hang of a waiting thread names the tasks that wait for each other`() throws {
        let (began, ended) = try hang("ring-blocked", "knotted")
        for report in [began, ended] {
            #expect(report.contains(#""cause":"one callout waits for time to pass""#))
            #expect(report.contains(#"\"knot 1\" wait for each other"]"#), "\(report)")
        }
    }

    @Test func `a program that gets no processor is reported as starved`() throws {
        let (began, ended) = try hang("starved", "starving", isStarved: true)
        #expect(began.contains(#""label":"starving""#))
        #expect(ended.contains(#""cause":"the thread got no processor""#))
    }

    @Test func `a program that is stopped for three seconds is reported as stopped and not as hanging`() {
        let lines = play("stopped")
        #expect(lines.contains("stopped for 3 s") || lines.contains("stopped for 4 s"), "\(lines)")
        #expect(Self.wrong(lines).isEmpty)
        #expect(!lines.contains("standstills: 0"))
    }

    @Test func `a program that sleeps in a run inside a callout is not reported`() {
        #expect(Self.wrong(play("nested")).isEmpty)
    }

    @Test func `a program that is healthy and busy is not reported`() {
        // A machine with more to do than it can may keep it from running: that is no wrong report.
        #expect(Self.wrong(play("healthy \(isFull ? 60 : 3)")).isEmpty)
    }

    private static func wrong(_ lines: String) -> [String] {
        lines.split(separator: "\n").map(String.init).filter {
            $0.hasPrefix(#"{"stage":"ended""#) && !isOfMachine(ended: $0)
        }
    }

    @Test func `a program that is idle does not wake the watcher`() {
        #expect(play("idle \(isFull ? 5 : 2)").contains("wake-ups of the watcher: 0\n"))
    }

    @Test func `a program that is killed while it hangs leaves its report`() {
        let text = shell(
            """
            folder=$(mktemp -d /tmp/run-loops-hangs.XXXXXX)
            '\(hangPrograms ?? "")' dies $folder >/dev/null &
            # It hangs for ten minutes, which is the limit of this test.
            until ls $folder/*.txt >/dev/null 2>&1; do sleep 0.1; kill -0 $PPID || exit; done
            kill -9 $!
            wait $! 2>/dev/null
            cat $folder/*
            rm -r $folder
            """)
        #expect(text.hasPrefix("Hang 1: the main loop has been hanging for "))
        #expect(text.contains("\nCallout: timer sleeper, made at RunLoopsHangPrograms/Program.swift:"))
        #expect(text.contains("takeANap"))
        #expect(text.contains(#"{"stage":"began","number":1"#))
    }

    @Test func `a program completes its report after a hang, and prints an error if it cannot write the report`() {
        let text = shell(
            """
            folder=$(mktemp -d /tmp/run-loops-hangs.XXXXXX)
            '\(hangPrograms ?? "")' kept $folder >/dev/null
            cat $folder/*
            '\(hangPrograms ?? "")' dies $folder/none 2>&1 | grep -o 'No report can be written in .*none'
            rm -r $folder
            """)
        #expect(text.contains("Hang 1: the main loop hung for "))
        #expect(text.contains("No report can be written in"))
    }
}
