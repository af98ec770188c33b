// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Places the drawing of a view in the picture of the display.
extension View {
    /// The cells of the view that can be seen: those within the display, and a cell more on each side for the rounding.
    private func cellsWithinDisplay(of size: Size) -> CellRect {
        let origin = shownFrame.origin + (superview?.shownOffset ?? .zero)
        return CellRect(Rect(-origin.x - 1, -origin.y - 1, size.width + 2, size.height + 2))
    }

    /// Returns the cells that a drawing of a large view keeps, and notes them; `nil` for all cells of other views.
    func takeDrawingWindow() -> CellRect? {
        let all = CellRect(Rect(size: frame.size))
        let (count, isMore) = all.columns.count.multipliedReportingOverflow(by: all.rows.count)
        guard isMore || count > Band.maxCellsWithoutWindow, let application = window?.application else {
            extras?.drawingWindow = nil
            return nil
        }
        let seen = cellsWithinDisplay(of: application.display.size)
        let (across, down) = (seen.columns.count, seen.rows.count)
        let kept = CellRect(
            x: seen.columns.lowerBound - across, y: seen.rows.lowerBound - down, width: 3 * across, height: 3 * down
        ).clipped(to: all)
        let extras = extras ?? ViewExtras()
        self.extras = extras
        if extras.drawingWindow == nil { application.commit.watchDrawing(of: self) }
        extras.drawingWindow = kept
        return kept
    }

    /// Asks for display if a part of the view is in sight that its drawing has not kept.
    ///
    /// - Returns: Whether the view is one of those of which a part is kept.
    func displayAgainIfMoved(within size: Size) -> Bool {
        guard let kept = extras?.drawingWindow else { return false }
        let seen = cellsWithinDisplay(of: size).clipped(to: CellRect(Rect(size: frame.size)))
        if window != nil, !seen.isEmpty, seen.clipped(to: kept) != seen { setNeedsDisplay() }
        return true
    }

    /// Keeps a drawing, and asks for a frame that shows it.
    func show(_ canvas: Canvas) {
        pictures = canvas.pictures
        // A picture that has moved below the same cells needs a frame of its own.
        if !pictures.isEmpty { window?.application?.commit.markFrame() }
        // A view that draws one line anew asks for a picture of that line.
        var rows = 0..<canvas.band.height
        if let backing { rows = canvas.band.rowsChanged(from: backing) }
        backing = canvas.band.isEmpty ? nil : canvas.band
        if rows.isEmpty { return }
        let place = shownFrame
        let area = Rect(place.minX, place.minY + Double(rows.lowerBound), place.width, Double(rows.count))
        window?.application?.commit.damage(area.moved(by: superview?.shownOffset ?? .zero))
    }

    /// Asks for a new composition of the area that the view shows.
    func damageShown() { damage(shownFrame) }

    /// Asks for a new composition of a rectangle in the superview's coordinates.
    func damage(_ rect: Rect) {
        guard let commit = window?.application?.commit else { return }
        // The window has no superview: its frame is in the display's coordinates.
        let area = clipsToBounds ? rect : rect.union(reach(rect))
        commit.damage(area.moved(by: superview?.shownOffset ?? .zero))
    }

    /// Returns the area that the view with this frame and all views inside cover.
    private func reach(_ frame: Rect) -> Rect {
        subviews.reduce(frame) { area, subview in
            let place = subview.shownFrame
            let inside = subview.clipsToBounds ? place : subview.reach(place)
            return area.union(inside.moved(by: frame.origin - shownContentOrigin))
        }
    }

    /// Composes the view and the views inside into the display's grid.
    ///
    /// - Parameters:
    ///   - offset: The origin of the superview's coordinates, in the display's coordinates.
    ///   - clip: The cells that may be changed.
    func compose(into grid: inout CellGrid, offset: Point, clip: CellRect) {
        guard isSeenNow else { return }
        let alpha = shownAlpha
        if alpha >= 1 { return composeContent(into: &grid, offset: offset, clip: clip) }
        var picture = grid
        composeContent(into: &picture, offset: offset, clip: clip)
        grid.blend(picture, alpha: alpha, clip: clip)
    }

    /// Composes the view and the views inside into the display's grid as if its alpha was 1.
    private func composeContent(into grid: inout CellGrid, offset: Point, clip: CellRect) {
        let frame = shownFrame
        let area = CellRect(frame.moved(by: offset))
        let own = area.clipped(to: clip)
        if !own.isEmpty {
            let background = shownBackgroundColor
            if background != .clear { grid.fill(own, with: Cell(.space, Style(on: background))) }
            if let backing {
                grid.lay(
                    backing.grid, x: area.columns.lowerBound + backing.left, y: area.rows.lowerBound + backing.top,
                    clip: own)
            }
        }
        let inside = clipsToBounds ? own : clip
        let origin = offset + frame.origin - shownContentOrigin
        if !inside.isEmpty { for subview in subviews { subview.compose(into: &grid, offset: origin, clip: inside) } }
        composeOverContent(into: &grid, area: area, clip: clip)
    }

    /// Appends the pictures that the view shows with their own pixels, from back to front.
    ///
    /// - Parameter offset: The origin of the superview's coordinates, in the display's coordinates.
    /// - Complexity: O(views inside).
    func collectPictures(into placed: inout [PlacedPicture], offset: Point) {
        // Pixels are not mixed with cells.
        guard isSeenNow, shownAlpha >= 0.5 else { return }
        let frame = shownFrame
        for picture in pictures {
            let area = CellRect(frame.moved(by: offset))
            placed.append(
                PlacedPicture(
                    picture.picture, in: picture.area.moved(x: area.columns.lowerBound, y: area.rows.lowerBound)))
        }
        for subview in subviews {
            subview.collectPictures(into: &placed, offset: offset + frame.origin - shownContentOrigin)
        }
    }
}
