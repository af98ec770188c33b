// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The content of a view, as a value that another thread lays out and draws.
///
/// A view that overrides ``View/asyncDrawing`` is drawn with this value. The value has all that the drawing needs: it is
/// made on the main actor, and is then used on any thread. As it is `Sendable`, the compiler refuses a drawing that reads
/// the view.
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
    /// Computes the layout of the content; unless implemented, returns the given size without frames of subviews.
    ///
    /// Called on any thread, before the drawing.
    ///
    /// - Parameter size: The size of the view.
    func layout(in size: Size) -> AsyncLayout

    /// Draws the content, in coordinates whose origin is the upper left corner of the view.
    ///
    /// Called on any thread. A long drawing asks the context from time to time whether the drawing is still wanted.
    ///
    /// - Parameters:
    ///   - canvas: The canvas to draw on, as large as the view.
    ///   - layout: The result of ``layout(in:)``.
    ///   - context: Says whether the drawing is still wanted.
    func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext)
}

extension AsyncDrawing {
    /// Returns a layout of the given size, without frames of subviews.
    public func layout(in size: Size) -> AsyncLayout { AsyncLayout(size: size) }
}

/// The result of a layout on another thread.
public struct AsyncLayout: Hashable, Sendable {
    /// The size that the content wants; the view returns its height and width from ``View/sizeThatFits(_:)``.
    public var size: Size
    /// The frames of the view's subviews, in their order; the subviews receive the frames when the drawing is shown.
    public var frames: [Rect]

    /// Makes a layout of the given size, with frames of subviews.
    ///
    /// - Parameters:
    ///   - size: The size that the content wants.
    ///   - frames: The frames of the view's subviews, in their order; subviews without one stay where they are.
    public init(size: Size, frames: [Rect] = []) {
        self.size = size
        self.frames = frames
    }
}

/// A drawing by a closure, for a view that needs no drawing type of its own.
public struct AsyncDrawingClosure: AsyncDrawing {
    private let body: @Sendable (inout Canvas, AsyncDrawingContext) -> Void

    /// Makes a drawing that calls a closure on another thread.
    public init(_ body: @escaping @Sendable (inout Canvas, AsyncDrawingContext) -> Void) { self.body = body }

    /// Calls the closure.
    public func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext) {
        body(&canvas, context)
    }
}

/// Says whether a drawing on another thread is still wanted.
public struct AsyncDrawingContext: Sendable {
    let counter: DrawingCounter
    let ticket: Int

    /// Whether the view no longer wants this drawing; its result will not be shown, so the drawing may return at once.
    ///
    /// Thread safety: any thread.
    public var isCancelled: Bool { counter.current != ticket }
}

/// Counts the drawings of a view; all drawings before the last are cancelled.
final class DrawingCounter: Sendable {
    // Only the number itself is shared: what was drawn is handed over under a lock.
    private let value = Atomic<Int>(0)

    /// The number of the drawing that is wanted.
    var current: Int { value.load(ordering: .relaxed) }

    /// Cancels the drawing under way.
    ///
    /// - Returns: The number of the next drawing.
    @discardableResult
    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}

/// One drawing of one view.
struct DrawingJob: Sendable {
    let drawing: any AsyncDrawing
    let size: Size
    /// The cells that can be seen of a large view; `nil` for all cells.
    let window: CellRect?
    let context: AsyncDrawingContext

    /// Lays out and draws; returns nil if the view no longer wants the drawing.
    func run() -> DrawnCells? {
        if context.isCancelled { return nil }
        let layout = drawing.layout(in: size)
        if context.isCancelled { return nil }
        var canvas = Canvas(size: size, window: window)
        drawing.draw(in: &canvas, layout: layout, context: context)
        return context.isCancelled ? nil : DrawnCells(canvas: canvas, layout: layout)
    }
}

/// The result of a drawing on another thread.
struct DrawnCells: Sendable {
    let canvas: Canvas
    let layout: AsyncLayout
}
