// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents

/// Writes the output of a recording to standard output, each part when its time has come.
final class Player {
    private let path: String
    private let speed: Double
    private var parts: ArraySlice<(time: Duration, text: String)> = []
    private var failure: (any Error)?
    private lazy var screen = OutputWriter(.standardOutput) { [unowned self] _, event in
        if case .failed(let error) = event { failure = error }
        if event != .drained { RunLoop.current.stop() }
    }

    init(_ path: String, speed: Double) {
        (self.path, self.speed) = (path, speed)
    }

    func run() throws {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        if number < 0 { throw BadFile(path: path, reason: String(cString: strerror(errno))) }
        let reader = InputReader(try RunLoop.File(adopting: number), as: .lines) { [unowned self] _, event in
            switch event {
            case .received(let lines): parts += lines.compactMap(Recording.output)
            case .ended: play()
            case .failed(let error):
                failure = error
                RunLoop.current.stop()
            }
        }
        for source in [reader, screen] as [EventSource] { try RunLoop.current.add(source, in: .default) }
        RunLoop.current.run()
        if let failure { throw failure }
    }

    private func play() {
        // By the time since the beginning, so that late timers do not add up.
        let start = RunLoop.Instant.now
        func next() {
            guard let (_, text) = parts.popFirst() else { return screen.finish() }
            screen.write(text.utf8)
            wait()
        }
        func wait() {
            guard let time = parts.first?.time else { return screen.finish() }
            let date = start.advanced(by: time / speed)
            RunLoop.current.add(RunLoop.Timer(.at(date)) { _ in next() }, in: .default)
        }
        wait()
    }
}
