// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import Testing

@MainActor private final class Field: View {
    var log: Log?
    var mayResign = true

    override var canBecomeFirstResponder: Bool { true }
    override var canResignFirstResponder: Bool { mayResign }
    override func firstResponderChanged(_ isFirst: Bool) { log?.add("first \(isFirst)") }
    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        for press in presses { log?.add("field \(press.text ?? "key")") }
        super.pressesBegan(presses, with: event)
    }
}

/// A controller that logs what comes along the chain.
@MainActor private final class ChainController: ViewController {
    var log: Log?
    var name = "controller"
    var carriesOut: Command?

    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) {
        log?.add("\(name) touched")
        super.touchesBegan(touches, with: event)
    }
    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        log?.add("\(name) pressed")
        super.pressesBegan(presses, with: event)
    }
    override func canPerform(_ command: Command) -> Bool { command == carriesOut }
    override func perform(_ command: Command, from sender: AnyObject?) { log?.add("\(name) \(command.rawValue)") }
}

@MainActor private final class ChainDelegate: Responder, ApplicationDelegate {
    let log = Log()
    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) { log.add("delegate touched") }
    override func pressesBegan(_ presses: Set<Press>, with event: Event?) { log.add("delegate pressed") }
}

/// Which way events and commands go when nobody uses them.
@MainActor @Suite struct ResponderTests {
    @Test
    func `The responder chain is view, superview or controller, window, application and delegate`()
        throws
    {
        let delegate = ChainDelegate()
        try TestApplication.with(delegate: delegate) { app in
            let (root, child) = (ChainController(), ChainController())
            let inner = View()
            root.addChild(child)
            root.view.addSubview(child.view)
            child.view.addSubview(inner)
            let window = app.show(root)
            let chain = Array(sequence(first: inner as Responder, next: \.next))
            let expected: [Responder] = [
                inner, child.view, child, root.view, root, window, app.application, delegate,
            ]
            #expect(chain.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init))
        }
    }

    @Test func `The responder chain ends at the application if its delegate is not a responder`() throws {
        final class Plain: ApplicationDelegate {}
        let delegate = Plain()
        try TestApplication.with(delegate: delegate) { app in #expect(app.application.next == nil) }
        try TestApplication.with(delegate: DelegateController()) { app in #expect(app.application.next == nil) }
        try TestApplication.with(delegate: DelegateView()) { app in #expect(app.application.next == nil) }
    }

    private final class DelegateView: View, ApplicationDelegate {
        init() { super.init(frame: .zero) }
    }
    /// Views and controllers have another place in the chain.
    private final class DelegateController: ViewController, ApplicationDelegate {}

    @Test func `A recogniser is not in the responder chain and does not stop touches`() throws {
        try withProbe { app, view, log in
            let inner = View(frame: Rect(0, 0, 9, 9))
            view.addSubview(inner)
            let probe = ProbeRecognizer()
            probe.touchLog = log
            inner.addGestureRecognizer(probe)
            let chain = sequence(first: inner as Responder, next: \.next).map { ObjectIdentifier($0) }
            #expect(!chain.contains(ObjectIdentifier(probe)))
            app.down(1, 1)
            #expect(log.take() == ["recogniser began", "view began"])
            app.cancel(1, 1)
        }
    }

    @Test func `An unused touch is passed up the responder chain from the hit view`() throws {
        let delegate = ChainDelegate()
        try TestApplication.with(delegate: delegate) { app in
            let controller = ChainController()
            controller.log = delegate.log
            controller.view.addSubview(View(frame: Rect(0, 0, 10, 10)))
            app.show(controller)
            app.tap(at: Point(1, 1))
            #expect(delegate.log.take() == ["controller touched", "delegate touched"])
        }
    }

    @Test func `Keys are delivered to the first responder or, without one, to the root`() throws {
        let delegate = ChainDelegate()
        try TestApplication.with(delegate: delegate) { app in
            let controller = ChainController()
            let field = Field()
            field.log = delegate.log
            controller.log = delegate.log
            controller.view.addSubview(field)
            let window = app.show(controller)
            app.type("a")
            #expect(delegate.log.take() == ["controller pressed", "delegate pressed"])
            #expect(field.becomeFirstResponder())
            #expect(field.isFirstResponder && window.firstResponder === field)
            app.type("b")
            #expect(delegate.log.take() == ["first true", "field b", "controller pressed", "delegate pressed"])
            #expect(field.resignFirstResponder())
            #expect(delegate.log.take() == ["first false"])
        }
    }

    @Test func `becomeFirstResponder fails if the view cannot become first or the other refuses to resign`() throws {
        try TestApplication.with { app in
            let root = View()
            let (one, other, plain) = (Field(), Field(), View())
            for view in [one, other, plain] { root.addSubview(view) }
            app.show(root)
            #expect(!plain.becomeFirstResponder())
            #expect(one.becomeFirstResponder())
            one.mayResign = false
            #expect(!other.becomeFirstResponder())
            #expect(one.isFirstResponder)
            one.mayResign = true
            #expect(other.becomeFirstResponder())
            #expect(!one.isFirstResponder && other.isFirstResponder)
            other.removeFromSuperview()
            #expect(root.window?.firstResponder == nil)
        }
    }

    @Test func `A command without a target is performed by the nearest responder in the chain that can perform it`()
        throws
    {
        try TestApplication.with { app in
            let log = Log()
            let (root, child) = (ChainController(), ChainController())
            (root.log, child.log) = (log, log)
            (root.name, child.name) = ("root", "child")
            let field = Field()
            root.addChild(child)
            root.view.addSubview(child.view)
            child.view.addSubview(field)
            app.show(root)
            field.becomeFirstResponder()
            root.carriesOut = .copy
            #expect(app.application.send(.copy))
            child.carriesOut = .copy
            #expect(app.application.send(.copy))
            #expect(app.application.send(.copy, to: root))
            #expect(!app.application.send(.paste))
            #expect(log.take() == ["root copy", "child copy", "root copy"])
            #expect(app.application.send(.quit))
            #expect(app.application.state == .notRunning)
        }
    }

    @Test
    func `The wheel is delivered to the view under the pointer, and pasted text without a first responder to the root`()
        throws
    {
        final class Taker: View {
            var log: Log?
            override func wheelTurned(_ wheel: Wheel, with event: Event?) { log?.add("wheel \(wheel.notches.y)") }
            override func pasted(_ paste: Paste, with event: Event?) { log?.add("paste \(paste.text)") }
        }
        try TestApplication.with { app in
            let root = Taker()
            let inner = Taker(frame: Rect(0, 0, 10, 10))
            let log = Log()
            inner.log = log
            root.addSubview(inner)
            app.show(root)
            app.send(.wheel(WheelInput(Point(0, 2), at: Point(3, 3))))
            #expect(log.take() == ["wheel 2.0"])
            root.log = log
            app.send(.paste("text", isLast: true))
            #expect(log.take() == ["paste text"])
        }
    }
}
