// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import NightlyKit
import RunLoops
import RunLoopsKit
import RunLoopsPorts

/// One thread and one loop that have one ball between them: the thread hands it to the loop in one way, and has to get
/// it back before it does so again.
///
/// Nothing else wakes the loop. On the loops of the plots there is always a next timer or a next closure, which serves
/// what a lost wake-up has left behind, so that nobody learns of the loss.
final class Rally: Sendable {
    /// How the ball comes to the loop.
    enum Stroke: String, CaseIterable {
        case closure, signal, timer, byte, message
    }

    private let stroke: Stroke
    private let thread: RunLoopThread
    private let played = Counter()
    private let back: Counter
    private let isLost = Counter()
    private let source: RunLoop.Source
    private let port: RunLoop.MessagePort
    private let sender: RunLoop.MessagePort.Sender
    private let ends: (read: CInt, write: CInt)
    private let readable: RunLoop.DescriptorSource

    init(_ stroke: Stroke) throws {
        let back = Counter()
        (self.stroke, self.back) = (stroke, back)
        thread = try RunLoopThread(name: "rally")
        source = .sendable { _ in back.add(1) }
        port = .sendable { _ in
            back.add(1)
            return nil
        }
        sender = port.sender
        var ends: [CInt] = [-1, -1]
        precondition(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        self.ends = (ends[0], ends[1])
        readable = .sendable(ends[0]) { source, _ in
            var byte: UInt8 = 0
            if read(source.descriptor, &byte, 1) == 1 { back.add(1) }
        }
        thread.loop.add(source, in: .common)
        try thread.loop.add(port, in: .common)
        // A loop with a descriptor sleeps in another way.
        if stroke == .byte { try thread.loop.add(readable, in: .common) }
    }

    /// Plays until the time is over, or a ball does not come back.
    func play(until isOver: Counter, _ patience: Patience, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        while isOver.value == 0 {
            strike()
            played.add(1)
            guard comesBack(within: patience) else { return isLost.set(1) }
            // The loop is on its way to sleep: the next ball meets it anywhere there.
            for _ in 0..<Int.random(in: 0..<300, using: &random) { _ = back.value }
        }
    }

    private func strike() {
        switch stroke {
        case .closure: thread.loop.perform { [back] in back.add(1) }
        case .signal:
            source.signal()
            thread.loop.wakeUp()
        case .timer:
            let timer = RunLoop.Timer.sendable(.after(.zero)) { [back] _ in back.add(1) }
            thread.loop.add(timer, in: .common)
        case .byte: precondition(write(ends.write, "x", 1) == 1)
        case .message:
            do { try sender.send(RunLoop.MessagePort.Message()) } catch {
                check(false, "rally: a port refuses: \(error)")
            }
        }
    }

    private func comesBack(within patience: Patience) -> Bool {
        for _ in 0..<2000 where back.value >= played.value { return true }
        let end = patience.end
        while back.value < played.value {
            if RunLoop.Instant.now > end { return false }
            usleep(20)
        }
        return true
    }

    /// Looks at the laws, after the last ball.
    func weigh() {
        check(
            isLost.value == 0, "rally by \(stroke): ball \(played.value) did not come back: no wake-up, or none in time"
        )
    }

    func end() {
        thread.stop(.draining)
        thread.join()
        // After the end nothing comes twice any more. A ball that came late is counted here.
        check(back.value == played.value, "rally by \(stroke): \(played.value) balls came back \(back.value) times")
        print("rally by \(stroke): \(back.value) balls")
        readable.invalidate()
        port.invalidate()
        source.invalidate()
        close(ends.read)
        close(ends.write)
    }
}
