// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

extension ViewController {
    /// Shows a controller over this one, runs the loop until the controller is dismissed, and then returns.
    ///
    /// The loop runs in the mode `modalPanel`, inside the callout that calls this method. Timers, sources and blocks of
    /// the default mode wait until the end; those in the common modes, which include `modalPanel` from the first call on,
    /// do not wait. Input, gestures, frames and animations go on, so the user can do whatever the controller offers.
    /// While the user drags a scroll view of the controller, the loop runs in the tracking mode, and afterwards in
    /// `modalPanel` again. Modal controllers can be nested. The end of the application ends all of them.
    ///
    /// The callers of this method wait while the loop runs. A program that need not wait in the middle of its code uses
    /// ``present(_:style:)``.
    ///
    /// Corresponds to AppKit's `runModal(for:)`, which runs the loop in the same mode.
    ///
    /// - Parameters:
    ///   - controller: The controller to show.
    ///   - style: The style; if nil, an ``AlertController`` is shown as an alert, and any other controller as a sheet.
    /// - Precondition: the precondition of ``present(_:style:)``; and no commit is under way, since a commit shows
    ///   nothing before it ends.
    public func runModal(_ controller: ViewController, style: PresentationStyle? = nil) {
        guard let application = view.window?.application else {
            preconditionFailure(
                "\(self) cannot run a modal controller: its view is in no window. Call it from viewDidAppear() on.")
        }
        require(
            !application.commit.isInPass,
            "runModal(_:style:) was called in layout, drawing or another part of a commit, which shows nothing until it ends. Call "
                + "it from an action or a timer, or in commit.afterCommit { … }.")
        present(controller, style: style)
        // The calls of the controllers may have dismissed it already.
        guard controller.overlay != nil else { return }
        let session = ModalSession(controller, application.modes)
        controller.modalSession = session
        application.run(session)
    }
}

extension AlertController {
    /// Shows the alert over a controller, runs the loop until the user has answered, and returns the chosen action.
    ///
    /// The handler of the action has been called by then. See ``ViewController/runModal(_:style:)`` for the mode in which
    /// the loop runs.
    ///
    /// ```swift
    /// let alert = AlertController(title: "Delete the file?")
    /// let delete = AlertAction("Delete", style: .destructive)
    /// alert.addAction(delete)
    /// alert.addAction(AlertAction("Keep", style: .cancel))
    /// if alert.runModal(over: controller) === delete { document.delete() }
    /// ```
    ///
    /// Corresponds to AppKit's `NSAlert.runModal()`.
    ///
    /// - Returns: The chosen action; nil if the alert was dismissed without one, or the application has ended.
    /// - Precondition: the precondition of ``ViewController/runModal(_:style:)``.
    @discardableResult
    public func runModal(over presenter: ViewController) -> AlertAction? {
        chosenAction = nil
        presenter.runModal(self, style: .alert)
        return chosenAction
    }
}

/// A call of ``ViewController/runModal(_:style:)``, which waits for the dismissal of its controller.
@MainActor final class ModalSession {
    private(set) var isOver = false
    /// The controller that the session waits for.
    private(set) weak var controller: ViewController?
    private let modes: ModeStack
    /// The depth of the session's run among the application's runs.
    private let depth: Int

    fileprivate init(_ controller: ViewController, _ modes: ModeStack) {
        self.controller = controller
        self.modes = modes
        depth = modes.depth
    }

    /// Called when the controller was dismissed: ends the run of this session, and the runs in it.
    func end() {
        isOver = true
        modes.stop(from: depth)
    }
}

extension Application {
    /// The controller of the modal session that the loop's innermost run waits for; `nil` if it waits for none.
    package var modalWaiter: ViewController? { modes.isInnermost ? modalSessions.last?.controller : nil }

    /// Runs the loop until a session is over.
    fileprivate func run(_ session: ModalSession) {
        loop.addCommonMode(.modalPanel)
        let outer = modes.current
        modalSessions.append(session)
        defer { modalSessions.removeLast() }
        modes.nest(.modalPanel) {
            while state != .notRunning, !session.isOver {
                _ = modes.run { loop.run(in: $0, until: nil) }
                modes.checkCurrent()
            }
        }
        // The run around this one may be of another mode by now.
        if modes.current != outer { modes.runAnew() }
    }
}
