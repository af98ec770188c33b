// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI
package import RunLoops

/// A display without a device, which stores the last frame and receives its input from the test.
@MainActor public final class SyntheticDisplay: Display {
    /// The size of the display, in points; ``resize(to:)`` changes it.
    public private(set) var size: Size
    /// The abilities of the display.
    public var abilities = DisplayAbilities()
    /// The last frame that the display has taken.
    public private(set) var frame: Frame?
    /// The number of frames that the display has taken.
    public private(set) var frameCount = 0
    /// Whether the display refuses frames; when this becomes false, the display reports that it is ready.
    public var isBusy = false { didSet { if oldValue, !isBusy { queue?.displayIsReady() } } }
    /// Whether the display was opened, and not closed yet.
    public private(set) var isOpen = false
    /// Whether the application has suspended the display.
    public private(set) var isSuspended = false
    /// The notifications that the application has presented.
    public private(set) var notifications: [String] = []
    /// The number of the application's requests for the user's attention.
    public private(set) var attentionRequests = 0
    private var queue: InputQueue?

    /// Makes a display of the given size, in points.
    ///
    /// - Precondition: the size is at most 4,096 columns and rows.
    public init(size: Size = Size(80, 24)) {
        require(size.width <= 4096 && size.height <= 4096, "A synthetic display has at most 4,096 columns and rows.")
        self.size = size
    }

    /// Stores the queue, into which the test's input is pushed.
    public func open(_ input: InputQueue) {
        queue = input
        isOpen = true
    }

    /// Stores the frame, unless ``isBusy`` is set.
    public func present(_ frame: Frame) -> Presentation {
        if isBusy { return .busy }
        self.frame = frame
        frameCount += 1
        return .taken
    }

    /// Calls the handler of a test that has set one; otherwise returns false, so that the application uses its own 60
    /// frames a second.
    public func requestScreenFrame() -> Bool { frameRequestHandler?() ?? false }

    /// Records the notification.
    public func presentNotification(_ text: String) -> Bool {
        notifications.append(text)
        return true
    }

    /// Counts the request.
    public func requestUserAttention() -> Bool {
        attentionRequests += 1
        return true
    }

    /// Records the change of the display's state.
    public func suspend() { isSuspended = true }

    /// Records the change of the display's state.
    public func resume() { isSuspended = false }

    /// Records the change of the display's state.
    public func close() { isOpen = false }

    // MARK: The test

    /// Pushes an input, as a device's source would.
    public func push(_ input: RawInput) { queue?.push(input) }

    /// Called for each frame of a screen that the application asks for.
    package var frameRequestHandler: (() -> Bool)?

    /// Reports a frame of a screen.
    package func screenFrameBegan(at instant: RunLoop.Instant, number: Int) {
        queue?.screenFrameBegan(at: instant, number: number)
    }

    /// Whether the application's queue is full, so that a device would stop reading for now.
    public var isQueueFull: Bool { queue?.isFull ?? false }

    /// Changes the size, and reports the change to the application.
    public func resize(to size: Size) {
        self.size = size
        push(.resized(size))
    }

    /// The text of the last frame, a line for each row; empty before the first.
    public var text: String { frame?.cells.text ?? "" }
}
