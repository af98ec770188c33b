// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI
internal import RunLoops
public import RunLoopsTesting

/// An application on a synthetic display and a manual loop with virtual time: a drag of three seconds takes no real time.
///
/// While the test runs, `RunLoop.main` and `RunLoop.current` are the test's loop, and `RunLoop.Instant.now` is the virtual
/// time, for all code on the main thread; so code that was written for a program runs unchanged. Other threads find the
/// process's main loop and its clock as always, also those of other tests: a closure that another thread posts to
/// `RunLoop.main` runs after the test, unless the test waits for it by ``waitForOtherThreads(until:)``.
///
/// ```swift
/// @MainActor @Test func `A button is tapped`() throws {
///     try TestApplication.with { app in
///         app.show(controller)
///         app.tap(at: Point(3, 1))
///         #expect(app.text.contains("tapped"))
///     }
/// }
/// ```
@MainActor public final class TestApplication {
    /// The application, which is launched.
    public let application: Application
    /// The display that shows the application.
    public let display: SyntheticDisplay
    /// The application's loop.
    public let manual: ManualRunLoop
    /// Draws the views that other threads draw in a program; takes no time unless a duration is set.
    public let drawing: VirtualDrawingExecutor

    private init(_ manual: ManualRunLoop, size: Size, delegate: (any ApplicationDelegate)?) throws {
        self.manual = manual
        display = SyntheticDisplay(size: size)
        application = Application(display: display, delegate: delegate)
        drawing = VirtualDrawingExecutor()
        application.drawingExecutor = drawing
        manual.waiter = { [weak application] in
            MainActor.assumeIsolated { application?.modalWaiter.map(Self.explain) }
        }
        try application.launch()
        settle()
    }

    private static func explain(_ controller: ViewController) -> String {
        let title = controller.title.map { " \"\($0)\"" } ?? ""
        return """
            runModal waits in virtual time for the dismissal of \(Swift.type(of: controller))\(title), and no event can dismiss it: no \
            timer is due, and the test does not continue before runModal returns. Prepare the answer before the question, \
            such as by app.send(.key(KeyInput(.enter)), after: .milliseconds(100)).
            """
    }

    /// Launches an application, calls the body and ends the application.
    ///
    /// - Parameters:
    ///   - size: The size of the display, in points.
    ///   - delegate: The application's delegate.
    ///   - body: The test.
    public static func with<Result>(
        size: Size = Size(80, 24), delegate: (any ApplicationDelegate)? = nil,
        _ body: @MainActor (TestApplication) throws -> Result
    ) throws -> Result {
        try ManualRunLoop.with { manual in
            let test = try TestApplication(manual, size: size, delegate: delegate)
            defer { test.application.terminate() }
            return try body(test)
        }
    }

    /// Shows a controller in a new window, and has it drawn.
    @discardableResult
    public func show(_ controller: ViewController) -> Window {
        let window = Window()
        window.rootViewController = controller
        window.makeKeyAndVisible()
        settle()
        return window
    }

    /// Shows a view in a new window, as large as the display, and has it drawn.
    @discardableResult
    public func show(_ view: View) -> Window {
        let controller = ViewController()
        controller.view = view
        return show(controller)
    }

    /// The text on the display, a line for each row.
    public var text: String { display.text }

    // MARK: Time

    /// Advances the virtual time; the loop runs meanwhile, in the modes that the application asks for.
    ///
    /// Virtual time ends after 292 years.
    public func advance(by duration: Duration) {
        let now = manual.now
        let end = now.advanced(by: duration)
        // A run until the last instant has no limit: the instant before ends the run.
        application.run(until: RunLoop.Instant(nanoseconds: min(end.nanoseconds, .max - 1), clock: now.clock))
    }

    /// Serves what happens outside of virtual time until a condition holds, and has the results drawn: closures that other
    /// threads give to the process's main loop, and descriptors, such as those of a child.
    ///
    /// Tasks on the main actor run meanwhile only where the test itself is none: in a program with a synchronous main
    /// function. A test function on the main actor has the actor until it returns.
    ///
    /// The wait takes real time. Virtual time advances only by the frames that show results, so what a test finds afterwards
    /// does not depend on how long the wait took. The process's main loop runs in the default mode meanwhile, so closures of
    /// other tests may run too. Use it where the code under test has a thread, a child or a connection of its own.
    ///
    /// - Parameter condition: Checked after each turn of the main loop.
    public func waitForOtherThreads(until condition: () -> Bool) {
        while !condition() {
            _ = RunLoop.replaceCurrent(with: .ofMainThread)
            RunLoop.ofMainThread.run(in: .default, for: .milliseconds(10))
            _ = RunLoop.replaceCurrent(with: manual.loop)
            manual.lookAtOpenDescriptors()
            advance(by: .zero)
            // The next frame may be shown only later.
            if application.commit.timeToNextFrame != nil { settle() }
        }
    }

    /// Runs the loop until all ready work is done, and waits for the frame that shows the result.
    public func settle() {
        advance(by: application.commit.frameInterval)
        // A frame that was shown early counts as one in time, and the next one comes as much later.
        if let rest = application.commit.timeToNextFrame, rest <= CommitTransaction.slack { advance(by: rest) }
    }

    // MARK: Input

    /// Pushes inputs one after the other, each in a turn of its own, and has the results drawn.
    public func send(_ inputs: RawInput...) {
        for input in inputs { handle(input) }
        settle()
    }

    /// Sends inputs one after the other when a time has passed, each in a turn of its own; returns at once.
    ///
    /// The inputs also reach a controller that ``/LoopUI/ViewController/runModal(_:style:)`` shows meanwhile. The call of
    /// `runModal` returns only then, so a test prepares its answer before the question:
    ///
    /// ```swift
    /// func confirm(in app: TestApplication, at point: Point) {
    ///     app.send(.key(KeyInput(.enter)), after: .milliseconds(100))
    ///     app.tap(at: point)
    /// }
    /// ```
    public func send(_ inputs: RawInput..., after delay: Duration) {
        var rest = inputs[...]
        let timer = RunLoop.Timer(.after(delay, every: .nanoseconds(1)), label: "input of a test") { [display] timer in
            MainActor.assumeIsolated {
                if let input = rest.popFirst() { display.push(input) }
                if rest.isEmpty { timer.invalidate() }
            }
        }
        application.loop.add(timer, in: .common)
    }

    /// Pushes one input, and runs the loop until it would sleep: gestures are decided then.
    ///
    /// A run that may not sleep at all does not reach the observers that are called before sleep.
    private func handle(_ input: RawInput) {
        application.push(input)
        advance(by: .nanoseconds(1))
    }

    /// Presses and releases keys.
    public func press(_ keys: Key..., modifiers: KeyModifiers = []) {
        for key in keys { handle(.key(KeyInput(key, modifiers: modifiers))) }
        settle()
    }

    /// Presses the keys of a text.
    public func type(_ text: String) {
        for character in text { handle(.key(KeyInput(.character(character)))) }
        settle()
    }

    /// Taps at a point, `count` times.
    public func tap(at point: Point, count: Int = 1) {
        for _ in 0..<count {
            handle(.pointer(PointerInput(.began, at: point)))
            handle(.pointer(PointerInput(.ended, at: point)))
        }
        settle()
    }

    /// Plays a script of touches.
    public func play(_ script: TouchScript) {
        for step in script.steps {
            if step.delay > .zero { advance(by: step.delay) }
            handle(.pointer(step.input))
        }
        settle()
    }
}
