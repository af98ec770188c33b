// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsDiagnostics

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Asks a process again and again, and shows what it says: one loop, with the answers, the keys and a timer as its
/// items.
@MainActor
final class Top {
    /// How often, and how long.
    struct Options {
        var interval = Duration.seconds(1)
        var length: Duration?
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT]

    private let client: InspectorClient
    private let options: Options
    /// Of the terminal; nil where lines are printed.
    private let theme: Theme?
    private let loop = RunLoop.main
    private var model = TopModel()
    private var frame = LiveFrame()
    private var keys = KeyDecoder()
    private var selected = 0
    /// Since when there is no answer to the last question.
    private var asked: RunLoop.Instant?
    /// How it ends, and what is still to be said.
    private var end: Result<String?, CommandEnd>?

    init(_ client: InspectorClient, _ options: Options, theme: Theme?) {
        self.client = client
        self.options = options
        self.theme = theme
    }

    /// To the end of the process, of the time, or until somebody has seen enough.
    func run() throws {
        let items = try addItems()
        if theme != nil {
            Terminal.leaveAtExit()
            enter()
        } else {
            Terminal.write(TopPlain.title + "\n")
        }
        ask()
        draw()
        while end == nil, loop.run(mode: .default, until: nil) != .finished {}
        for item in items { item.invalidate() }
        if theme != nil { Terminal.leave() }
        SystemSignals.release(Self.signals)
        if let words = try end?.get() { print(words) }
    }

    private func addItems() throws -> [RunLoop.Item] {
        let timer = RunLoop.Timer.mainActor(.every(options.interval), tolerance: options.interval / 10, label: "ask") {
            [self] _ in
            ask()
        }
        let answers = RunLoop.DescriptorSource.mainActor(client.descriptor, label: "answers") { [self] _, _ in
            takeAnswer()
        }
        let signals = try SystemSignals(Self.signals) { [self] in take(signal: $0) }
        loop.add(timer, in: .default)
        try loop.add(answers, in: .default)
        try loop.add(signals.source, in: .default)
        var items: [RunLoop.Item] = [timer, answers, signals.source]
        // Input that is no terminal is somebody else's.
        if theme != nil {
            let input = StandardInput { [self] in take($0) }
            try loop.add(input.source, in: .default)
            items.append(input.source)
        }
        if let length = options.length {
            let over = RunLoop.Timer.mainActor(.after(length), label: "over") { [self] _ in finish(.success(nil)) }
            loop.add(over, in: .default)
            items.append(over)
        }
        return items
    }

    private func finish(_ result: Result<String?, CommandEnd>) {
        if end == nil { end = result }
        loop.stop()
    }

    // MARK: Asking

    private func ask() {
        // One question at a time: a process that is stopped would be asked until its socket is full.
        guard asked == nil else { return draw() }
        do {
            try client.requestStatistics()
            asked = .now
        } catch {
            finish(.failure(ProcessArgument.failure(client.process, error)))
        }
    }

    private func takeAnswer() {
        do {
            guard let report = try client.takeReport() else { return }
            asked = nil
            model.take(report)
            selected = min(selected, max(0, report.loops.count - 1))
            draw()
        } catch {
            if case .gone = error { return finish(.success("process \(client.process) has ended")) }
            finish(.failure(ProcessArgument.failure(client.process, error)))
        }
    }

    // MARK: Showing

    private var notice: String? {
        guard let asked, model.count > 0 || asked.duration(to: .now) > .milliseconds(500) else { return nil }
        let silence = asked.duration(to: .now)
        guard silence >= options.interval else { return nil }
        let state = ProcessArgument.isStopped(client.process) ? "stopped" : "no answer"
        return "\(state) for \(Format.seconds(silence, decimals: 0)) s"
    }

    private func draw() {
        guard let theme else {
            // The first answer has nothing to be compared with.
            guard asked == nil, model.count > 1 else { return }
            return Terminal.write(TopPlain.lines(model).map { $0 + "\n" }.joined())
        }
        let screen = TopScreen(model: model, size: frame.size, theme: theme, selected: selected, notice: notice)
        frame.show(screen.frame().map(theme.render))
    }

    private func enter() {
        Terminal.enter()
        frame.invalidate()
    }

    // MARK: Keys and signals

    private func take(_ chunk: StandardInput.Chunk) {
        guard case .bytes(let bytes) = chunk else { return finish(.success(nil)) }
        for key in keys.take(bytes) {
            switch key {
            case .character("q"): finish(.success(nil))
            case .tab, .sequence("[B"), .sequence("OB"): select(selected + 1)
            case .sequence("[Z"), .sequence("[A"), .sequence("OA"): select(selected - 1)
            default: break
            }
        }
    }

    private func select(_ index: Int) {
        guard !model.loops.isEmpty else { return }
        selected = (index + model.loops.count) % model.loops.count
        draw()
    }

    private func take(signal: CInt) {
        switch signal {
        case SIGWINCH, SIGCONT:
            guard theme != nil else { return }
            // After SIGSTOP, which no process can notice, the shell has had the terminal.
            if signal == SIGCONT { enter() } else { frame.invalidate() }
            draw()
        case SIGTSTP:
            if theme != nil { Terminal.leave() }
            SystemSignals.stopProcess()
            if theme != nil { enter() }
            draw()
        default:
            finish(.failure(.status(128 + signal)))
        }
    }
}
