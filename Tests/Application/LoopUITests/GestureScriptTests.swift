// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import LoopUI

/// Random touches on random recognisers: whatever happens, what has begun ends, and everything is possible again.
@MainActor @Suite(.ownThread) struct GestureScriptTests {
    @Test(arguments: 0..<60)
    func `After random touches every touch of a view has ended once and all recognisers are idle`(seed: Int) throws {
        try TestApplication.with { app in
            let chaos = Chaos(app, seed: UInt64(seed))
            for _ in 0..<400 { chaos.step() }
            chaos.liftAll()
            app.advance(by: .seconds(2))
            #expect(chaos.faults == [])
            #expect(chaos.open.isEmpty)
            #expect(chaos.unfinished == [])
            #expect(app.application.gestures.isIdle)
            #expect(app.application.loop.nextTimerDeadline(in: .default) == nil)
            #expect(chaos.touchesSeen > 20 && chaos.actions > 0)
            // A new recogniser works afterwards.
            let view = ProbeView(Log())
            let log = Log()
            let tap = TapGestureRecognizer()
            tap.logActions(log, "tap")
            view.addGestureRecognizer(tap)
            app.show(view)
            app.tap(at: Point(1, 1))
            #expect(log.lines == ["tap ended"])
        }
    }

    /// All of the scripts above again do the same: nothing depends on addresses or on the order of a set.
    @Test func `Two runs with the same seed have the same history of touches and actions`() throws {
        func run() throws -> [String] {
            try TestApplication.with { app in
                let chaos = Chaos(app, seed: 7)
                for _ in 0..<400 { chaos.step() }
                return chaos.history
            }
        }
        let first = try run()
        #expect(first.count > 100)
        #expect(try run() == first)
    }
}

/// Views, recognisers, relations, answers and fingers by chance.
@MainActor private final class Chaos: GestureRecognizerDelegate {
    private let app: TestApplication
    private var random: SeededRandom
    private let root = View()
    private var views: [CheckedView] = []
    private(set) var recognizers: [GestureRecognizer] = []
    private var owners: [ObjectIdentifier: View] = [:]
    private var lastAction: [ObjectIdentifier: GestureRecognizer.State] = [:]
    private var fingers: [Int: Point] = [:]
    private(set) var faults: [String] = []
    private(set) var history: [String] = []
    private(set) var touchesSeen = 0
    private(set) var actions = 0
    /// The touches that a view has got the beginning of, and no end.
    var open: Set<Touch> = []

    init(_ app: TestApplication, seed: UInt64) {
        self.app = app
        random = SeededRandom(seed)
        app.show(root)
        for index in 0..<5 {
            let view = CheckedView(index, self)
            let place = Rect(Double(random.oneIn(2) ? 0 : 30), Double(index), Double(20 + 10 * index), 18)
            view.frame = place
            (random.oneIn(2) ? views.last ?? root : root).addSubview(view)
            views.append(view)
        }
        for index in 0..<8 { add(index) }
        for recognizer in recognizers where random.oneIn(3) {
            if let other = recognizers.randomElement(using: &random) { recognizer.require(toFail: other) }
        }
    }

    private func add(_ index: Int) {
        let kinds: [() -> GestureRecognizer] = [
            { TapGestureRecognizer() }, { LongPressGestureRecognizer() }, { PanGestureRecognizer() },
            { SwipeGestureRecognizer() }, { PinchGestureRecognizer() },
            {
                let tap = TapGestureRecognizer()
                tap.numberOfTapsRequired = 2
                return tap
            },
        ]
        let recognizer = kinds[Int.random(in: 0..<kinds.count, using: &random)]()
        recognizer.cancelsTouchesInView = !random.oneIn(3)
        recognizer.delaysTouchesBegan = random.oneIn(3)
        recognizer.delaysTouchesEnded = !random.oneIn(3)
        if random.oneIn(2) { recognizer.delegate = self }
        recognizer.addAction { [unowned self] in check($0, index) }
        let view = views.randomElement(using: &random) ?? root
        view.addGestureRecognizer(recognizer)
        owners[ObjectIdentifier(recognizer)] = view
        recognizers.append(recognizer)
    }

    // MARK: What is checked

    private func check(_ recognizer: GestureRecognizer, _ index: Int) {
        actions += 1
        let (state, id) = (recognizer.state, ObjectIdentifier(recognizer))
        history.append("recogniser \(index) \(state)")
        let last = lastAction[id]
        let isUnderWay = last == .began || last == .changed
        let isLegal =
            switch state {
            case .began: !isUnderWay
            case .changed, .cancelled: isUnderWay
            case .ended: true
            case .possible, .failed: false
            }
        if !isLegal { faults.append("\(type(of: recognizer)): \(state) after \(String(describing: last))") }
        lastAction[id] = state
        if random.oneIn(20) { disturb() }
    }

    fileprivate func touched(_ index: Int, _ touch: Touch) {
        history.append("view \(index) \(touch.phase)")
        let isOpen = open.contains(touch)
        switch touch.phase {
        case .began:
            touchesSeen += 1
            if isOpen { faults.append("A touch began twice.") }
            open.insert(touch)
        case .moved: if !isOpen { faults.append("A touch moved that had not begun.") }
        case .ended, .cancelled:
            if !isOpen { faults.append("A touch was \(touch.phase) that had not begun.") }
            open.remove(touch)
        case .stationary: faults.append("A stationary touch was delivered.")
        }
        if random.oneIn(60) { disturb() }
    }

    /// The recognisers that are not possible again, or are still known to the arbiter.
    var unfinished: [String] {
        recognizers.filter { $0.state != .possible || $0.whenMarked != nil }.map { "\(type(of: $0)) \($0.state)" }
    }

    // MARK: What happens

    func step() {
        for _ in 0..<Int.random(in: 1...4, using: &random) { app.display.push(.pointer(input())) }
        let pauses: [Duration] = [.zero, .nanoseconds(1), .milliseconds(20), .milliseconds(200), .milliseconds(700)]
        if let pause = pauses.randomElement(using: &random) { app.advance(by: pause) }
        if random.oneIn(30) { disturb() }
        if random.oneIn(15) { putBack() }
    }

    private func input() -> PointerInput {
        let finger = Int.random(in: 0..<3, using: &random)
        guard let place = fingers[finger] else {
            let point = Point(
                Double(Int.random(in: 0..<80, using: &random)), Double(Int.random(in: 0..<24, using: &random)))
            fingers[finger] = point
            return PointerInput(.began, at: point, identifier: finger)
        }
        if random.oneIn(4) {
            fingers[finger] = nil
            return PointerInput(random.oneIn(6) ? .cancelled : .ended, at: place, identifier: finger)
        }
        // Now and then the device has lost an end.
        if random.oneIn(40) { return PointerInput(.began, at: place, identifier: finger) }
        let moved = place + Point(Double(Int.random(in: -2...2, using: &random)), 1)
        fingers[finger] = moved
        return PointerInput(.moved, at: moved, identifier: finger)
    }

    func liftAll() {
        for finger in 0..<3 { app.display.push(.pointer(PointerInput(.ended, at: .zero, identifier: finger))) }
        putBack()
    }

    /// Removes, disables or puts back something.
    private func disturb() {
        guard let view = views.randomElement(using: &random),
            let recognizer = recognizers.randomElement(using: &random)
        else { return }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: view.removeFromSuperview()
        case 1: recognizer.isEnabled.toggle()
        case 2: recognizer.view?.removeGestureRecognizer(recognizer)
        default: putBack()
        }
    }

    private func putBack() {
        for view in views where view.superview == nil { root.addSubview(view) }
        for recognizer in recognizers {
            recognizer.isEnabled = true
            if recognizer.view == nil { owners[ObjectIdentifier(recognizer)]?.addGestureRecognizer(recognizer) }
        }
    }

    // MARK: Answers

    func gestureRecognizerShouldBegin(_ recognizer: GestureRecognizer) -> Bool { !random.oneIn(4) }
    func gestureRecognizer(_ recognizer: GestureRecognizer, shouldReceive touch: Touch) -> Bool { !random.oneIn(5) }
    func gestureRecognizer(
        _ recognizer: GestureRecognizer, shouldRecognizeSimultaneouslyWith other: GestureRecognizer
    ) -> Bool { random.oneIn(2) }
    func gestureRecognizer(
        _ recognizer: GestureRecognizer, shouldRequireFailureOf other: GestureRecognizer
    ) -> Bool { random.oneIn(6) }
}

@MainActor private final class CheckedView: View {
    private let index: Int
    private unowned let chaos: Chaos

    init(_ index: Int, _ chaos: Chaos) {
        self.index = index
        self.chaos = chaos
        super.init()
    }

    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) { tell(touches) }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) { tell(touches) }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) { tell(touches) }
    override func touchesCancelled(_ touches: Set<Touch>, with event: Event?) { tell(touches) }

    private func tell(_ touches: Set<Touch>) { for touch in touches { chaos.touched(index, touch) } }
}
