// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import Testing

@testable import LoopUI

@MainActor private final class PhaseLog {
    var entries: [String] = []
}

@MainActor private final class PhaseView: View {
    private let name: String
    private let log: PhaseLog
    var whenUpdated: (() -> Void)?
    var whenLaidOut: (() -> Void)?

    init(_ name: String, _ log: PhaseLog) {
        self.name = name
        self.log = log
        super.init(frame: Rect(0, 0, 4, 1))
    }
    override func updateConstraints() {
        log.entries.append("constraints \(name)")
        whenUpdated?()
        super.updateConstraints()
    }
    override func layoutSubviews() {
        log.entries.append("layout \(name)")
        whenLaidOut?()
    }
    override func draw(in canvas: inout Canvas) { log.entries.append("display \(name)") }
}

@MainActor private final class PhaseController: ViewController {
    var updates = 0
    override func updateViewConstraints() {
        updates += 1
        super.updateViewConstraints()
    }
}

@MainActor @Suite struct CommitPhaseTests {
    private func with(_ body: (TestApplication, PhaseView, PhaseView, PhaseLog, PhaseController) throws -> Void) throws
    {
        try TestApplication.with(size: Size(20, 4)) { app in
            let log = PhaseLog()
            let (outer, inner) = (PhaseView("outer", log), PhaseView("inner", log))
            outer.addSubview(inner)
            let controller = PhaseController()
            controller.view = outer
            app.show(controller)
            try body(app, outer, inner, log, controller)
        }
    }

    @Test func `A commit updates constraints, then lays out superviews before subviews, then displays`() throws {
        try with { _, _, _, log, controller in
            #expect(
                log.entries == [
                    "constraints outer", "constraints inner", "layout outer", "layout inner", "display inner",
                    "display outer",
                ])
            #expect(controller.updates == 1)
        }
    }

    @Test func `A view updates its constraints once however often it asks`() throws {
        try with { app, outer, inner, log, _ in
            log.entries = []
            for _ in 0..<3 { inner.setNeedsUpdateConstraints() }
            #expect(inner.needsUpdateConstraints && !outer.needsUpdateConstraints)
            app.settle()
            #expect(log.entries == ["constraints inner"])
            #expect(!inner.needsUpdateConstraints)
            #expect(app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `A layout that requests a constraint update causes another update and layout in the same commit`() throws
    {
        try with { app, outer, inner, log, _ in
            log.entries = []
            var rounds = 0
            inner.whenUpdated = { inner.setNeedsLayout() }
            outer.whenLaidOut = {
                rounds += 1
                if rounds < 3 { inner.setNeedsUpdateConstraints() }
            }
            inner.whenLaidOut = { if rounds < 3 { outer.setNeedsLayout() } }
            let frames = app.display.frameCount
            outer.setNeedsLayout()
            app.settle()
            #expect(rounds == 3)
            #expect(log.entries.filter { $0 == "constraints inner" }.count == 2)
            #expect(app.display.frameCount <= frames + 1)
        }
    }

    @Test func `A view that requests a constraint update endlessly does not block the loop`() throws {
        try with { app, _, inner, _, _ in
            var updates = 0
            inner.whenUpdated = {
                updates += 1
                inner.setNeedsUpdateConstraints()
            }
            inner.setNeedsUpdateConstraints()
            app.advance(by: .milliseconds(100))
            #expect(updates >= 16)
            inner.whenUpdated = nil
            app.settle()
            #expect(app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `layoutIfNeeded first updates the constraints of the whole tree`() throws {
        try with { _, outer, inner, log, _ in
            log.entries = []
            outer.setNeedsLayout()
            inner.setNeedsUpdateConstraints()
            outer.layoutIfNeeded()
            #expect(log.entries == ["constraints inner", "layout outer"])
        }
    }

    @Test func `The phaseHandler receives the phases that have work, in order`() throws {
        try with { app, outer, inner, _, _ in
            var phases: [CommitTransaction.Phase] = []
            app.application.commit.phaseHandler = { phases.append($0) }
            inner.setNeedsUpdateConstraints()
            outer.setNeedsLayout()
            inner.setNeedsDisplay()
            app.application.commit.prepare {}
            outer.backgroundColor = .red
            app.settle()
            #expect(phases == CommitTransaction.Phase.allCases)
            #expect(phases.map(\.rawValue) == ["constraints", "layout", "display", "prepare", "commit"])
            phases = []
            outer.backgroundColor = .blue
            app.settle()
            #expect(phases == [.commit])
        }
    }

    @Test func `A trace shows the phases by their names inside the transaction's callout`() throws {
        try with { app, outer, inner, _, _ in
            let names = CalloutNames()
            app.application.loop.tracer = names
            defer { app.application.loop.tracer = nil }
            inner.setNeedsUpdateConstraints()
            outer.setNeedsLayout()
            inner.setNeedsDisplay()
            app.application.commit.prepare {}
            outer.backgroundColor = .red
            app.settle()
            let inside = names.inside["transaction"] ?? []
            #expect(inside == ["constraints", "layout", "display", "prepare", "commit"])
        }
    }
}

/// Keeps the names of the callouts that ran inside others.
private final class CalloutNames: LoopTracer {
    private(set) var inside: [String: [String]] = [:]
    private var open: [String] = []

    func trace(_ event: LoopEvent) {
        switch event {
        case .calls(_, let label):
            if let outer = open.last { inside[outer, default: []].append(label.text) }
            open.append(label.text)
        case .returns: _ = open.popLast()
        default: break
        }
    }
}
