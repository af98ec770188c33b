// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Pictures
internal import LoopUI

/// A width and a height, in pixels.
struct PixelSize: Hashable {
    var width: Int
    var height: Int

    /// The size of an area of cells, in pixels.
    init(_ area: CellRect, cell: Size) {
        width = area.columns.count * Int(cell.width)
        height = area.rows.count * Int(cell.height)
    }

    init(_ picture: Picture) {
        width = picture.width
        height = picture.height
    }
}
#endif
