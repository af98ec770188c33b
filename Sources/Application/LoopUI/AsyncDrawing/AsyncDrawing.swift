// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The content of a view, as a value that another thread lays out and draws.
///
/// A view that overrides ``View/asyncDrawing`` is drawn this way. The value has all that it needs: it is made on the main
/// actor, and is then used on any thread. As it is `Sendable`, the compiler refuses a drawing that reads the view.
///
/// ```swift
/// struct LogLine: AsyncDrawing {
///     let text: String
///
///     func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext) {
///         canvas.write(text, at: .zero)
///     }
/// }
///
/// final class LogCell: TableCell {
///     override var asyncDrawing: (any AsyncDrawing)? { LogLine(text: text) }
/// }
/// ```
public protocol AsyncDrawing: Sendable {
    /// Finds the places of what is shown; the given size, and nothing inside, unless implemented.
    ///
    /// Called on any thread, before the drawing.
    ///
    /// - Parameter size: The size of the view.
    func layout(in size: Size) -> AsyncLayout

    /// Draws, in coordinates whose origin is the upper left corner.
    ///
    /// Called on any thread. A long drawing asks the context from time to time whether it is still wanted.
    ///
    /// - Parameters:
    ///   - canvas: What it draws on, as large as the view.
    ///   - layout: What ``layout(in:)`` has returned.
    ///   - context: Knows whether the drawing is still wanted.
    func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext)
}

extension AsyncDrawing {
    /// Takes the size that there is, and has no places inside.
    public func layout(in size: Size) -> AsyncLayout { AsyncLayout(size: size) }
}

/// The result of a layout on another thread.
public struct AsyncLayout: Hashable, Sendable {
    /// The size that the content wants; the view returns its height and width from ``View/sizeThatFits(_:)``.
    public var size: Size
    /// The frames of the view's subviews, in their order; they receive them together with what was drawn.
    public var frames: [Rect]

    /// A layout of that size.
    ///
    /// - Parameters:
    ///   - size: The size that the content wants.
    ///   - frames: The frames of the view's subviews, in their order; subviews without one stay where they are.
    public init(size: Size, frames: [Rect] = []) {
        self.size = size
        self.frames = frames
    }
}

/// A drawing by a closure, for views without a type of their own.
public struct AsyncDrawingClosure: AsyncDrawing {
    private let body: @Sendable (inout Canvas, AsyncDrawingContext) -> Void

    /// A drawing that calls a closure on another thread.
    public init(_ body: @escaping @Sendable (inout Canvas, AsyncDrawingContext) -> Void) { self.body = body }

    /// Calls the closure.
    public func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext) {
        body(&canvas, context)
    }
}

/// The questions that a drawing on another thread can ask.
public struct AsyncDrawingContext: Sendable {
    let counter: DrawingCounter
    let ticket: Int

    /// Whether the view wants another drawing by now, or none: then nobody sees this one, and it may end.
    ///
    /// Thread safety: any thread.
    public var isCancelled: Bool { counter.current != ticket }
}

/// Counts the drawings of a view: each one but the last is cancelled.
final class DrawingCounter: Sendable {
    // Only the number itself is shared: what was drawn is handed over under a lock.
    private let value = Atomic<Int>(0)

    /// The number of the drawing that is wanted.
    var current: Int { value.load(ordering: .relaxed) }

    /// Cancels the drawing under way.
    ///
    /// - Returns: The number of the next one.
    @discardableResult
    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}

/// One drawing of one view.
struct DrawingJob: Sendable {
    let drawing: any AsyncDrawing
    let size: Size
    let context: AsyncDrawingContext

    /// Lays out and draws; nil if the view wants another drawing by now.
    func run() -> DrawnCells? {
        if context.isCancelled { return nil }
        let layout = drawing.layout(in: size)
        if context.isCancelled { return nil }
        var canvas = Canvas(size: size)
        drawing.draw(in: &canvas, layout: layout, context: context)
        return context.isCancelled ? nil : DrawnCells(canvas: canvas, layout: layout)
    }
}

/// What another thread has drawn.
struct DrawnCells: Sendable {
    let canvas: Canvas
    let layout: AsyncLayout
}
