// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A process has one application, which is where a window finds it.
extension Application {
    /// The windows that are shown, the frontmost last.
    public var windows: [Window] { windowStack.all }
    /// The window that receives keys: the frontmost one.
    public var keyWindow: Window? { windowStack.key }
}

extension Window {
    /// The application of the process.
    public var application: Application? { Application.current }

    /// Makes a window as large as the display; ``makeKeyAndVisible()`` shows it.
    ///
    /// - Precondition: there is an application.
    public convenience init() {
        guard let application = Application.current else {
            preconditionFailure(
                "A window was made before its application: make it in applicationDidFinishLaunching(_:).")
        }
        self.init(frame: Rect(size: application.display.size))
    }

    /// Whether the application shows the window.
    public var isVisible: Bool { application?.windows.contains { $0 === self } ?? false }

    /// Whether this window receives keys.
    public var isKeyWindow: Bool { application?.keyWindow === self }

    /// Shows the window in front of the others, and makes it the key window.
    public func makeKeyAndVisible() {
        guard let application else { return }
        if !isKeyWindow { application.cancelPresses() }
        application.windowStack.bringToFront(self)
        application.commit.damageAll()
        frame = Rect(size: application.display.size)
        setNeedsLayout()
        setNeedsDisplay()
        rootOwner?.appear()
    }

    /// Removes the window from the display; the window behind it becomes the key window.
    public func close() {
        rootOwner?.dismissPresented()
        rootOwner?.disappear()
        if isKeyWindow { application?.cancelPresses() }
        application?.animator.endMoves(in: self)
        application?.windowStack.remove(self)
        application?.commit.damageAll()
    }

    /// Sets the window's size; if that differs from the present size, the root controller is called first.
    func changeSize(to size: Size) {
        if frame.size != size { rootOwner?.announceTransition(to: size) }
        frame = Rect(size: size)
    }
}
