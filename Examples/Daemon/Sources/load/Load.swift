// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents

/// Work and faults, at random times, from a seed.
final class Load {
    private let subject: Subject
    private let ledger: Ledger
    private let loop = RunLoop.current
    private var random: Random
    private var isOn = false
    private var number = 0
    private var isStopped = false
    /// How many times fewer files come than a fast machine converts.
    private let slowness: Int
    /// The time for which the daemon was stopped.
    private(set) var stopped = Duration.zero

    init(_ subject: Subject, seed: UInt64, slowness: Int) {
        self.subject = subject
        self.slowness = slowness
        ledger = subject.ledger
        random = Random(seed)
    }

    /// Does everything until `stop()`; floods once, in the middle, if there is time for what that makes.
    func start(for seconds: Int) {
        isOn = true
        every(20...180, times: slowness) { [self] in write(.plain) }
        every(100...400, times: slowness) { [self] in
            write([.renamed, .moved, .linked, .fleeting, .slow].randomElement(using: &random)!)
        }
        every(2000...4000, times: slowness) { [self] in write(.heavy) }
        every(4000...6000, times: slowness) { [self] in write(.storm) }
        every(15_000...25_000, times: slowness) { [self] in for _ in 0..<500 { write(.plain) } }
        every(100...300) { [self] in ask() }
        every(1000...5000) { [self] in reload() }
        every(200...1000) { [self] in killChild() }
        every(500...2000) { [self] in stopChild() }
        every(5000...20_000) { [self] in stopDaemon(for: .milliseconds(Int.random(in: 100...1000, using: &random))) }
        every(1000...3000) { [self] in beRude() }
        // Ten thousand in a run of a minute and more, each with a connection of its own.
        let crowd = min(333, 20_000 / seconds + 1)
        every(1000...3000) { [self] in for _ in 0..<crowd { visit() } }
        every(5000...20_000) { [self] in pauseJournal() }
        every(20_000...40_000) { [self] in
            ledger.count("absences of the service manager")
            subject.loseServiceManager(for: .milliseconds(1500))
        }
        every(3000...6000) { [self] in plantOldResult() }
        if Self.mayJump { every(3000...8000) { [self] in jumpClock() } }
        if seconds >= 120 { after(.seconds(seconds / 3)) { [self] in flood() } }
    }

    func stop() {
        isOn = false
        settle()
    }

    /// Gives the daemon a time for housekeeping until the last old result is removed.
    private func settle() {
        if ledger.isSettled { return }
        reload()
        after(.seconds(4)) { [self] in settle() }
    }

    private func every(_ milliseconds: ClosedRange<Int>, times factor: Int = 1, _ body: @escaping () -> Void) {
        after(.milliseconds(Int.random(in: milliseconds, using: &random) * factor)) { [self] in
            guard isOn else { return }
            body()
            every(milliseconds, times: factor, body)
        }
    }

    private func after(_ delay: Duration, _ body: @escaping () -> Void) { loop.performLocally(after: delay, body) }

    // MARK: Files

    private enum Kind: String, CaseIterable {
        case plain, renamed, moved, linked, fleeting, slow, heavy, storm
    }

    func writeOne() { write(.plain) }

    private func write(_ kind: Kind) {
        number += 1
        let name = "\(kind)-\(number)-ü"
        let count = kind == .heavy ? 100_000 : kind == .storm ? 3000 : Int.random(in: 0...200, using: &random)
        let path = "\(subject.folder)/in/\(name)"
        let hidden = "\(subject.folder)/in/.\(name)"
        let other = "\(subject.folder)/other/\(name)"
        ledger.ask(file: name, lines: count, isFleeting: kind == .fleeting)
        switch kind {
        case .plain, .heavy: write(path, count, portion: 5000)
        // Each line a write of its own.
        case .storm: write(path, count, portion: 1)
        case .renamed:
            write(hidden, count, portion: 5000)
            rename(hidden, path)
        case .moved:
            write(other, count, portion: 5000)
            rename(other, path)
        case .linked:
            write(other, count, portion: 5000)
            link(other, path)
            unlink(other)
        case .fleeting:
            write(path, count, portion: 5000)
            unlink(path)
        case .slow:
            let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            writeSlowly(to: file, 0, count)
        }
    }

    private func write(_ path: String, _ count: Int, portion: Int) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        precondition(file >= 0, "not opened: \(path)")
        for first in stride(from: 0, to: count, by: portion) {
            writeLines(to: file, first..<min(count, first + portion))
        }
        close(file)
    }

    /// A quarter of the lines each 200 ms; the file is open all the time, and must not be converted before its end.
    private func writeSlowly(to file: CInt, _ first: Int, _ count: Int) {
        let end = min(count, first + count / 4 + 1)
        writeLines(to: file, first..<end)
        if end == count {
            close(file)
        } else {
            after(.milliseconds(200)) { [self] in writeSlowly(to: file, end, count) }
        }
    }

    private func writeLines(to file: CInt, _ lines: Range<Int>) {
        let text = lines.map { "station-\($0 % 7) \($0)\n" }.joined()
        let written = Glibc.write(file, text, text.utf8.count)
        precondition(written == text.utf8.count, "not written: \(errno)")
    }

    /// More changes than the kernel keeps for a daemon that is not looking.
    private func flood() {
        stopDaemon(for: .seconds(3)) { [self] in for _ in 0..<9000 { write(.plain) } }
    }

    private func plantOldResult() {
        number += 1
        let name = "old-\(number)"
        let file = open("\(subject.folder)/out/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        let date = timespec(tv_sec: time(nil) - 172_800, tv_nsec: 0)
        // In the ledger first, though the daemon may look between the two calls: then the file is not old yet.
        ledger.ask(removalOf: name)
        futimens(file, [date, date])
        close(file)
    }

    // MARK: Commands

    private func ask() {
        number += 1
        subject.askByInput("status i\(number)")
        subject.askBySocket("status s\(number)")
    }

    /// A client that comes, asks, reads the answer and goes; it waits at the door as long as the door is shut.
    private func visit() {
        number += 1
        if !subject.askOnce("status v\(number)") { after(.milliseconds(50)) { [self] in visit() } }
    }

    private func reload() {
        // The kernel merges signals that follow each other fast.
        guard ledger.counts["reloads asked"] == ledger.counts["reloads done"] else { return }
        // Never the same twice: what is the same is not read again.
        number += 1
        writeSettings(workers: Int.random(in: 1...4, using: &random))
        ledger.count("reloads asked")
        kill(subject.process, SIGHUP)
    }

    func writeSettings(workers: Int) {
        // In two seconds, by the clock of Greenwich.
        let second = time(nil) % 86_400 + 2
        let text = """
            workers \(workers)
            limit \(600 + number % 1000)
            housekeeping \(second / 3600 % 24):\(second / 60 % 60):\(second % 60)
            converter \(subject.folder)/convert

            """
        writeText(text, to: "\(subject.folder)/settings.new")
        rename("\(subject.folder)/settings.new", "\(subject.folder)/settings")
    }

    /// A client that leaves in the middle of a line, and one that asks much and reads nothing.
    private func beRude() {
        guard let file = UnixSocket.connected(to: subject.socketPath) else { return }
        ledger.count("rude clients")
        let text = Bool.random(using: &random) ? "sta" : String(repeating: "status rude\n", count: 2000)
        _ = Glibc.send(file, text, text.utf8.count, CInt(MSG_NOSIGNAL))
        after(.milliseconds(100)) { close(file) }
    }

    // MARK: Faults

    private func killChild() {
        guard let child = randomChild() else { return }
        if (try? child.send(SIGKILL)) != nil { ledger.count("children killed") }
        child.invalidate()
    }

    private func stopChild() {
        guard let child = randomChild(), (try? child.send(SIGSTOP)) != nil else { return }
        ledger.count("children stopped")
        after(.milliseconds(300)) {
            try? child.send(SIGCONT)
            child.invalidate()
        }
    }

    /// By a descriptor of that one process: the number may be another process's in a moment.
    private func randomChild() -> ChildSource? {
        guard let number = Figures.children(of: subject.process).randomElement(using: &random),
            let child = try? ChildSource(number, reaps: false, handler: { _, _ in })
        else { return nil }
        if Figures.parent(of: number) == subject.process { return child }
        child.invalidate()
        return nil
    }

    private func stopDaemon(for time: Duration, _ body: @escaping () -> Void = {}) {
        if isStopped { return after(.seconds(2)) { [self] in stopDaemon(for: time, body) } }
        isStopped = true
        ledger.count("stops of the daemon")
        kill(subject.process, SIGSTOP)
        body()
        after(time) { [self] in
            kill(subject.process, SIGCONT)
            isStopped = false
            stopped += time
        }
    }

    /// Whether the clock is nobody else's: on User Mode Linux, where `clock` runs this program.
    private static let mayJump = Figures.text("/proc/cpuinfo").contains("User Mode Linux")

    /// Sets the wall clock, half an hour back or forth at most.
    private func jumpClock() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        now.tv_sec += Int.random(in: -1800...1800, using: &random)
        if clock_settime(CLOCK_REALTIME, &now) == 0 { ledger.count("jumps of the clock") }
    }

    private func pauseJournal() {
        ledger.count("pauses of the journal")
        subject.journal.isPaused = true
        after(.milliseconds(500)) { [self] in subject.journal.isPaused = false }
    }
}

/// SplitMix64: the same numbers for the same seed.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

func writeText(_ text: String, to path: String, mode: mode_t = 0o644) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    precondition(file >= 0, "not opened: \(path)")
    _ = write(file, text, text.utf8.count)
    close(file)
}
