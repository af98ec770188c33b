// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CRunLoopsKernel
import LoopUI
import LoopUITerminal
import RunLoops
import RunLoopsDiagnostics
import RunLoopsLibC

/// The command `runloop top`, which shows the activity of a process's loops while it changes.
struct TopTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Shows the activity of the loops of a process, updated at each interval.",
        discussion: """
            Shows turns and wake-ups per second with their causes, how busy each loop is, how late its timers fire, how \
            long other items waited, the callouts that take the most time, and the next timers. Rates are those of the last \
            interval, all other figures those of the last ten. On a terminal the screen is updated; elsewhere, each \
            interval prints one line for each loop.

            The process counts these figures only while this command runs.
            """)

    /// The longest wait for the answer of `--once`.
    private static let patience = Duration.seconds(5)

    @Option(help: .duration("The length of an interval."))
    var every = Duration.seconds(1)

    @Option(
        name: .customLong("for"),
        help: .duration("How long to run; by default until the process exits or q is pressed."))
    var length: Duration?

    @Flag(help: "Print lines on a terminal, too.")
    var plain = false

    @Flag(help: "Print one interval, and exit.")
    var once = false

    @Flag(help: "With --once: print one JSON document with the counts of the interval.")
    var json = false

    @Argument(help: .process)
    var process: ProcessArgument

    func validate() throws {
        if every < .milliseconds(50) { throw ValidationError("--every must be at least 50ms") }
        if json, !once { throw ValidationError("--json needs --once") }
    }

    func run() throws {
        if once { return try showOnce() }
        try MainActor.assumeIsolated {
            let feed = try TopFeed(process.connect(), every: every, for: length)
            let display = Terminal.standard()
            // Where the cursor cannot move, or its moves would be read aloud, each interval has lines of its own.
            if plain || !(display is Terminal) { showLines(feed) } else { try showScreen(feed, display) }
            if let words = try feed.end?.get() { Output.line(words) }
        }
    }

    @MainActor
    private func showScreen(_ feed: TopFeed, _ display: any Display) throws {
        let application = Application(display: display)
        let controller = TopController()
        feed.whenChanged = { controller.show(feed.model, notice: feed.notice) }
        feed.whenOver = { application.terminate() }
        let window = Window()
        window.rootViewController = controller
        window.makeKeyAndVisible()
        try application.runUntilEnd()
    }

    @MainActor
    private func showLines(_ feed: TopFeed) {
        func show(_ lines: [String]) {
            Output.lines(lines)
            Output.flush()
        }
        show([TopColumns.linesTitle])
        var shown = 1
        feed.whenChanged = {
            // The first answer has nothing to be compared with.
            if feed.model.count > shown { show(TopColumns.lines(feed.model)) }
            shown = max(1, feed.model.count)
        }
        feed.whenOver = { RunLoop.main.stop() }
        while feed.end == nil { RunLoop.main.run(in: .default, until: nil) }
    }

    private func showOnce() throws {
        var model = TopModel()
        let report = try process.ask { client in
            // The first answer has nothing to be compared with.
            try client.requestStatistics()
            model.take(try client.takeReport(until: InspectorClient.deadline(Self.patience)))
            // A process that ends is readable; an interval that a signal cuts short is a shorter interval.
            _ = rl_wait_readable(client.descriptor, CInt(clamping: every.milliseconds))
            try client.requestStatistics()
            return try client.takeReport(until: InspectorClient.deadline(Self.patience))
        }
        if json { return Output.document(report.document) }
        model.take(report)
        Output.lines([TopColumns.linesTitle] + TopColumns.lines(model))
    }
}
