// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

/// The demo: one loop on the true main thread, and everything it can serve.
///
/// This file has the runs: which mode, until when, and how a run is left. The items are in `DemoItems`, what they cause
/// in `DemoActions`.
@MainActor
final class Demo {
    let loop = RunLoop.main
    let options: DemoOptions
    let output: any DemoOutput
    let start = RunLoop.Instant.now
    let deadline: RunLoop.Instant?

    private(set) var model = DemoModel()
    /// The mode that the outermost run ought to be in.
    private(set) var mode: RunLoop.Mode = .default
    private(set) var isEnding = false
    /// True while each step is shown for a moment.
    var isSlow = false
    /// The signal that ended the demo, if one did.
    var endingSignal: CInt?

    var lines = LineSplitter()
    var keys = KeyDecoder()
    /// Who signalled the source since its last perform: signals carry no message, so the message lies here.
    let signallers = Signallers()
    /// The signalled source: the keys and the background thread signal it.
    private(set) lazy var source = RunLoop.Source.mainActor(label: "signalled source") { [self] _ in
        record(.callout(.source(by: signallers.takeAll())))
    }

    init(options: DemoOptions, output: any DemoOutput) {
        self.options = options
        self.output = output
        deadline = options.length.map { [start] in start.advanced(by: $0) }
    }

    /// Runs the demo to its end.
    ///
    /// - Returns: what was counted.
    /// - Throws: what the system refused.
    func run() throws -> DemoModel {
        // An application layer marks its tracking mode common; in this demo we are the application.
        loop.addCommonMode(.tracking)
        let items = try addItems()
        output.resume()
        defer {
            for item in items { item.invalidate() }
            output.suspend()
            SystemSignals.release(Self.signals)
        }
        let thread = try startBackgroundThread()
        defer { thread.stop() }

        while !isEnding {
            let entered = mode
            let result = loop.run(mode: entered, until: deadline)
            record(.returned(result))
            // A change of mode is a run that was stopped to begin another. Any other end is the demo's.
            if mode == entered || result != .stopped { isEnding = true }
        }
        output.commit(model)
        return model
    }

    // MARK: Leaving a run

    /// To change the mode, leave the run: a run is in one mode from its first turn to its last.
    func change(to mode: RunLoop.Mode) {
        self.mode = mode
        loop.stop()
    }

    /// Ends the demo, however many runs are nested.
    func end() {
        isEnding = true
        loop.stop()
    }

    /// Runs the loop from inside one of its own callouts, for a while.
    func runNested() {
        guard loop.currentMode != nil else { return }
        guard model.depth < DemoOptions.nestingLimit else {
            record(.note("deep enough: no more than \(DemoOptions.nestingLimit) runs"))
            return
        }
        let entered = mode
        let limit = RunLoop.Instant.now.advanced(by: DemoOptions.nestedLength)
        let result = loop.run(mode: entered, until: deadline.map { min($0, limit) } ?? limit)
        record(.returned(result))
        // stop() ended the innermost run alone. What was meant for the ones around it is passed on.
        if isEnding || mode != entered { loop.stop() }
    }

    // MARK: Recording

    /// Takes note of what happens, now.
    func record(_ event: DemoEvent) {
        output.note(model.record(event, at: start.duration(to: .now)))
        if isSlow {
            output.commit(model)
            // The thread is busy on purpose: in slow motion timers come late, and skip the dates that have passed.
            pause(DemoOptions.slowStep)
        }
    }
}
