// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI
package import RunLoops

/// A display without a device: it keeps the frames, and its input comes from the test.
@MainActor public final class SyntheticDisplay: Display {
    /// How many points it shows; ``resize(to:)`` changes it.
    public private(set) var size: Size
    /// The abilities of the display.
    public var abilities = DisplayAbilities()
    /// The last frame that it took.
    public private(set) var frame: Frame?
    /// How many frames it took.
    public private(set) var frameCount = 0
    /// Whether it takes no frames; when it becomes false, the display says that it is ready.
    public var isBusy = false { didSet { if oldValue, !isBusy { queue?.displayIsReady() } } }
    /// Whether it was opened, and not closed yet.
    public private(set) var isOpen = false
    /// Whether it is given back for a while.
    public private(set) var isSuspended = false
    private var queue: InputQueue?

    /// A display of that size, in points.
    ///
    /// - Precondition: at most 4,096 columns and rows.
    public init(size: Size = Size(80, 24)) {
        require(size.width <= 4096 && size.height <= 4096, "A synthetic display has at most 4,096 columns and rows.")
        self.size = size
    }

    /// Keeps the queue.
    public func open(_ input: InputQueue) {
        queue = input
        isOpen = true
    }

    /// Keeps the frame.
    public func present(_ frame: Frame) -> Presentation {
        if isBusy { return .busy }
        self.frame = frame
        frameCount += 1
        return .taken
    }

    /// Asks what the test has set, if it has; else the application takes its own grid.
    public func requestScreenFrame() -> Bool { frameRequestHandler?() ?? false }

    /// Notes it.
    public func suspend() { isSuspended = true }

    /// Notes it.
    public func resume() { isSuspended = false }

    /// Notes it.
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

    /// Whether the application wants no more input for now.
    public var isQueueFull: Bool { queue?.isFull ?? false }

    /// Takes another size, and says so.
    public func resize(to size: Size) {
        self.size = size
        push(.resized(size))
    }

    /// The text of the last frame, a line for each row; empty before the first.
    public var text: String { frame?.cells.text ?? "" }
}
