// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops

/// What happened, in order.
@MainActor final class Log {
    private(set) var lines: [String] = []

    func add(_ line: String) { lines.append(line) }

    /// The lines since the last call.
    func take() -> [String] {
        defer { lines = [] }
        return lines
    }

    // The tests have no closures inside #expect: the compiler may take another closure of the function for them.

    /// The lines of one kind since the last call of `take`.
    func lines(of name: String) -> [String] { lines.filter { $0.hasPrefix(name) } }

    /// The lines of one kind since the last call.
    func take(of name: String) -> [String] { take().filter { $0.hasPrefix(name) } }

    /// The lines since the last call, each up to its first comma.
    func takeNames() -> [String] { take().map { line in String(line.prefix { $0 != "," }) } }
}

/// A view that logs the touches that it gets.
@MainActor class ProbeView: View {
    let log: Log
    let name: String
    var whenTouched: ((Touch) -> Void)?

    init(_ log: Log, _ name: String = "view", frame: Rect = .zero) {
        self.log = log
        self.name = name
        super.init(frame: frame)
    }

    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) { note("began", touches) }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) { note("moved", touches) }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) { note("ended", touches) }
    override func touchesCancelled(_ touches: Set<Touch>, with event: Event?) { note("cancelled", touches) }

    private func note(_ what: String, _ touches: Set<Touch>) {
        log.add("\(name) \(what)")
        for touch in touches { whenTouched?(touch) }
    }
}

/// A recogniser that wishes for what the test tells it.
@MainActor final class ProbeRecognizer: GestureRecognizer {
    /// The states that it sets on touches; none where there is none.
    var onBegan: State?
    var onMoved: State?
    var onEnded: State?
    var expects = false
    var canPreventOthers = true
    var canBePreventedByOthers = true
    var resets = 0
    var touchLog: Log?

    override func touchesBegan(_ touches: Set<Touch>, with event: Event) { set(onBegan, "began") }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event) { set(onMoved, "moved") }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event) { set(onEnded, "ended") }
    override func reset() { resets += 1 }
    override var expectsMoreTouches: Bool { expects }
    override func canPrevent(_ other: GestureRecognizer) -> Bool { canPreventOthers }
    override func canBePrevented(by other: GestureRecognizer) -> Bool { canBePreventedByOthers }

    private func set(_ state: State?, _ phase: String) {
        touchLog?.add("recogniser \(phase)")
        if let state { self.state = state }
    }
}

/// A delegate that answers what the test tells it.
@MainActor final class ProbeDelegate: GestureRecognizerDelegate {
    var shouldBegin = true
    var receives = true
    var together = false
    /// Each pair: the first waits for the second, by the first's or the second's delegate.
    var requires: (GestureRecognizer, GestureRecognizer)?
    var isRequired: (GestureRecognizer, GestureRecognizer)?
    var timesAsked = 0

    func gestureRecognizerShouldBegin(_ recognizer: GestureRecognizer) -> Bool {
        timesAsked += 1
        return shouldBegin
    }
    func gestureRecognizer(_ recognizer: GestureRecognizer, shouldReceive touch: Touch) -> Bool { receives }
    func gestureRecognizer(
        _ recognizer: GestureRecognizer, shouldRecognizeSimultaneouslyWith other: GestureRecognizer
    ) -> Bool { together }
    func gestureRecognizer(
        _ recognizer: GestureRecognizer, shouldRequireFailureOf other: GestureRecognizer
    ) -> Bool { requires.map { $0.0 === recognizer && $0.1 === other } ?? false }
    func gestureRecognizer(
        _ recognizer: GestureRecognizer, shouldBeRequiredToFailBy other: GestureRecognizer
    ) -> Bool { isRequired.map { $0.1 === recognizer && $0.0 === other } ?? false }
}

extension ProbeView {
    /// Adds a recogniser whose actions are logged.
    @discardableResult
    func add<Recognizer: GestureRecognizer>(_ recognizer: Recognizer, _ name: String) -> Recognizer {
        recognizer.logActions(log, name)
        addGestureRecognizer(recognizer)
        return recognizer
    }
}

extension GestureRecognizer {
    /// Logs the state at each action.
    func logActions(_ log: Log, _ name: String) { addAction { log.add("\(name) \($0.state)") } }
}

/// Makes an application with one view that fills the display, and a log.
@MainActor func withProbe(_ body: (TestApplication, ProbeView, Log) throws -> Void) throws {
    try TestApplication.with { app in
        let log = Log()
        let view = ProbeView(log)
        app.show(view)
        try body(app, view, log)
    }
}

extension TestApplication {
    /// Pushes inputs of pointers that are handled in the same turn, and runs until the loop would sleep.
    func pushTogether(_ inputs: PointerInput...) {
        for input in inputs { display.push(.pointer(input)) }
        settle()
    }

    func down(_ x: Double, _ y: Double = 5, finger: Int = 0) {
        send(.pointer(PointerInput(.began, at: Point(x, y), identifier: finger)))
    }
    func move(_ x: Double, _ y: Double = 5, finger: Int = 0) {
        send(.pointer(PointerInput(.moved, at: Point(x, y), identifier: finger)))
    }
    func up(_ x: Double, _ y: Double = 5, finger: Int = 0) {
        send(.pointer(PointerInput(.ended, at: Point(x, y), identifier: finger)))
    }
    func cancel(_ x: Double, _ y: Double = 5, finger: Int = 0) {
        send(.pointer(PointerInput(.cancelled, at: Point(x, y), identifier: finger)))
    }
}
