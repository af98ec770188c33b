// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Pictures
internal import LoopUI

/// A number of pixels in both directions.
struct PixelSize: Hashable {
    var width: Int
    var height: Int

    /// The pixels of some cells.
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
