// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What a view knows of its drawings on other threads.
@MainActor final class AsyncDrawingState {
    let counter = DrawingCounter()
    /// Whether what the view shows belongs to something that it showed before.
    var isStale = true
    /// Whether a drawing has begun, and its result was not shown.
    var isUnderWay = false
    /// What the last layout has found.
    var layout: AsyncLayout?

    // Nobody sees what is drawn for a view that has gone.
    deinit { counter.next() }

    func cancel() {
        isUnderWay = false
        counter.next()
    }
}

extension View {
    /// The view whose drawings of one commit are seen together: the row that the view is in, or the view.
    var drawingContainer: View {
        var view: View? = self
        while let present = view {
            if present is TableCell { return present }
            view = present.superview
        }
        return self
    }

    /// Whether another thread draws what the view will show.
    var isDrawing: Bool { extras?.asyncDrawing?.isUnderWay ?? false }

    /// Asks another thread for what the view shows; until then it shows a placeholder, or what it has shown.
    func beginDrawing(_ drawing: any AsyncDrawing, in transaction: DrawingTransaction) {
        let extras = extras ?? ViewExtras()
        self.extras = extras
        let state = extras.asyncDrawing ?? AsyncDrawingState()
        if extras.asyncDrawing == nil {
            extras.asyncDrawing = state
            (drawingContainer.superview as? TableView)?.wantRowsAhead()
        }
        if state.isStale {
            state.isStale = false
            var canvas = Canvas(size: frame.size)
            drawPlaceholder(in: &canvas)
            show(canvas)
        }
        state.isUnderWay = true
        let context = AsyncDrawingContext(counter: state.counter, ticket: state.counter.next())
        transaction.add(DrawingJob(drawing: drawing, size: frame.size, context: context), of: self)
    }

    /// Shows what another thread has drawn, which is still wanted.
    func finishDrawing(_ cells: DrawnCells) {
        guard let state = extras?.asyncDrawing, window != nil else { return }
        state.isUnderWay = false
        show(cells.canvas)
        let old = state.layout
        state.layout = cells.layout
        for (view, frame) in zip(subviews, cells.layout.frames) where view.frame != frame { view.frame = frame }
        if old?.size != cells.layout.size { invalidateIntrinsicContentSize() }
    }

    /// Cancels the drawing under way, of this view and of all that is inside; what is shown stays.
    ///
    /// - Complexity: O(views inside).
    func cancelDrawing() {
        extras?.asyncDrawing?.cancel()
        for subview in subviews { subview.cancelDrawing() }
    }

    /// Cancels the drawing under way, of this view and of all that is inside: with the next frame a placeholder is
    /// shown, since the view is about to show something else.
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
