// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The state of a view's drawings on other threads.
@MainActor final class AsyncDrawingState {
    let counter = DrawingCounter()
    /// Whether the shown cells are of earlier content; the next drawing then begins with a placeholder.
    var isStale = true
    /// Whether a drawing has begun, and its result was not shown yet.
    var isUnderWay = false
    /// The result of the last layout.
    var layout: AsyncLayout?

    // Nobody sees what is drawn for a view that has gone.
    deinit { counter.next() }

    func cancel() {
        isUnderWay = false
        counter.next()
    }
}

extension View {
    /// The row that the view is in, or the view itself; drawings of one commit with the same container are shown
    /// together.
    var drawingContainer: View {
        var view: View? = self
        while let present = view {
            if present.isDrawingContainer { return present }
            view = present.superview
        }
        return self
    }

    /// Whether another thread draws what the view will show.
    var isDrawing: Bool { extras?.asyncDrawing?.isUnderWay ?? false }

    /// Begins a drawing on another thread; until its result is shown, the view shows a placeholder or its earlier
    /// content.
    func beginDrawing(_ drawing: any AsyncDrawing, in transaction: DrawingTransaction) {
        let extras = extras ?? ViewExtras()
        self.extras = extras
        let state = extras.asyncDrawing ?? AsyncDrawingState()
        if extras.asyncDrawing == nil {
            extras.asyncDrawing = state
            drawingContainer.beginsAsyncDrawing()
        }
        let window = takeDrawingWindow()
        if state.isStale {
            state.isStale = false
            var canvas = Canvas(size: frame.size, window: window)
            drawPlaceholder(in: &canvas)
            show(canvas)
        }
        state.isUnderWay = true
        let context = AsyncDrawingContext(counter: state.counter, ticket: state.counter.next())
        transaction.add(DrawingJob(drawing: drawing, size: frame.size, window: window, context: context), of: self)
    }

    /// Shows the result of a drawing that the view still wants, and sets the frames of the subviews.
    func finishDrawing(_ cells: DrawnCells) {
        guard let state = extras?.asyncDrawing, window != nil else { return }
        state.isUnderWay = false
        show(cells.canvas)
        let old = state.layout
        state.layout = cells.layout
        for (view, frame) in zip(subviews, cells.layout.frames) where view.frame != frame { view.frame = frame }
        if old?.size != cells.layout.size { invalidateIntrinsicContentSize() }
    }

    /// Cancels the drawings under way of this view and of all views inside it; the shown content stays.
    ///
    /// - Complexity: O(views inside).
    func cancelDrawing() {
        extras?.asyncDrawing?.cancel()
        for subview in subviews { subview.cancelDrawing() }
    }

    /// Cancels the drawings under way of this view and of all views inside it, and shows placeholders with the next
    /// frame, since the views are about to show something else.
    ///
    /// - Complexity: O(views inside).
    func discardDrawing() {
        if let state = extras?.asyncDrawing {
            state.cancel()
            state.isStale = true
            state.layout = nil
            setNeedsDisplay()
        }
        for subview in subviews { subview.discardDrawing() }
    }
}
