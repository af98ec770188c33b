// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// The inputs of the display that were not handled yet.
///
/// A display's source, which waits for the device, pushes the inputs that it reads. The queue's own source, which each
/// push signals and which has the order −1, hands the inputs to the application in the same or the next turn.
@MainActor public final class InputQueue {
    /// The loop of the application.
    public let loop: RunLoop
    /// The modes that a display adds its sources to.
    public let modes: [RunLoop.Mode]
    /// The modes that a display adds the sources of the system's requests to, and the sources that write frames.
    ///
    /// These are ``modes`` and the mode in which ``Application/receiveSystemEvents()`` runs the loop. The system requests
    /// that the program ends, stops, continues or takes another size. Other inputs that a display pushes in that mode stay
    /// in the queue until the loop runs in another mode.
    public let systemModes: [RunLoop.Mode]
    /// The number of inputs at which the queue counts as full.
    public static let capacity = 256

    private var inputs: ArraySlice<RawInput> = []
    private var wasFull = false
    private let source: RunLoop.Source
    private let ready: () -> Void
    private let frameBegan: (RunLoop.Instant, Int) -> Void
    /// Called when a full queue has room again, so that the display continues to read.
    public var roomHandler: (() -> Void)?

    init(
        loop: RunLoop, modes: [RunLoop.Mode], handle: @escaping () -> Void, displayIsReady: @escaping () -> Void,
        screenFrameBegan: @escaping (RunLoop.Instant, Int) -> Void
    ) {
        self.loop = loop
        self.modes = modes
        systemModes = modes + [.eventReceive]
        ready = displayIsReady
        frameBegan = screenFrameBegan
        source = RunLoop.Source(order: -1, label: "handleEventQueue") { _ in handle() }
        for mode in systemModes { loop.add(source, in: mode) }
    }

    /// Whether the queue is full, so that the display should stop reading for now; this bounds the memory.
    public var isFull: Bool { inputs.count >= Self.capacity }

    /// Adds an input at the end of the queue, and signals the queue's source.
    ///
    /// Consecutive moves of one pointer, turns of the wheel at one position, and sizes of the display are joined into one
    /// input, so that a slow program is late by one input and not by all. The queue takes inputs beyond its capacity too;
    /// no input is lost.
    public func push(_ input: RawInput) {
        if let last = inputs.last, let joined = Self.join(last, input) {
            inputs[inputs.endIndex - 1] = joined
        } else {
            inputs.append(input)
        }
        if isFull { wasFull = true }
        source.signal()
        // A display may push outside the loop's own turn.
        loop.wakeUp()
    }

    /// Called by the display when it can take the next frame.
    public func displayIsReady() { ready() }

    /// Called by the display when a frame that ``Display/requestScreenFrame()`` asked for has begun; other calls are
    /// ignored.
    ///
    /// Animations and decelerations advance in the same turn or in the next.
    ///
    /// - Parameters:
    ///   - instant: When the frame began, on the loop's clock.
    ///   - number: The frame's number on its screen; the frames between two numbers were missed.
    public func screenFrameBegan(at instant: RunLoop.Instant, number: Int) { frameBegan(instant, number) }

    private static func join(_ first: RawInput, _ second: RawInput) -> RawInput? {
        switch (first, second) {
        case (.pointer(let old), .pointer(let new))
        where old.phase == .moved && new.phase == .moved && old.identifier == new.identifier:
            return second
        case (.wheel(let old), .wheel(let new))
        where old.position == new.position && old.modifiers == new.modifiers:
            return .wheel(WheelInput(old.notches + new.notches, at: new.position, modifiers: new.modifiers))
        case (.resized, .resized): return second
        default: return nil
        }
    }

    // MARK: The application

    // The queue keeps an input until it is handled: a run of the loop inside a handler goes on with the next one.

    /// The number of inputs that wait.
    var count: Int { inputs.count }

    /// The input that is handled next.
    var first: RawInput? { inputs.first }

    /// Removes the input that is handled next.
    func removeFirst() { inputs.removeFirst() }

    /// Removes and returns the first input of the system, also if inputs of the user are before it.
    func takeSystemInput() -> RawInput? { inputs.firstIndex(where: \.isOfSystem).map { inputs.remove(at: $0) } }

    /// Has the inputs in the queue handled in the next turn.
    func resume() {
        if inputs.isEmpty { return }
        source.signal()
        loop.wakeUp()
    }

    /// Calls ``roomHandler`` if a full queue has room again; called after inputs were handled.
    func tellRoom() {
        guard wasFull, !isFull else { return }
        wasFull = false
        roomHandler?()
    }

    func invalidate() { source.invalidate() }
}
