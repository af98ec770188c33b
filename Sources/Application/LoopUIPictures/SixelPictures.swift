// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Pictures
internal import LoopUI
internal import LoopUITerminal

/// Pictures as sixels.
///
/// The pixels belong to the cells of the screen: letters and blanks that are written there remove them. So the pixels of
/// a cell have to be sent again exactly if the cell was written.
struct SixelPictures {
    /// A picture in as many pixels as its cells have.
    private struct Scaled: Hashable {
        var number: UInt64
        var size: PixelSize
    }

    private var scaled: [Scaled: Picture] = [:]

    mutating func bytes(for frame: Frame, since old: CellGrid?, cell: Size) -> [UInt8] {
        var bytes: [UInt8] = []
        var kept: [Scaled: Picture] = [:]
        for placed in frame.pictures {
            let key = Scaled(number: placed.picture.number, size: PixelSize(placed.area, cell: cell))
            let parts = placed.parts(in: frame.cells, changedSince: old)
            let known = scaled[key] ?? kept[key]
            if parts.isEmpty {
                kept[key] = known
                continue
            }
            let picture = known ?? placed.picture.scaled(width: key.size.width, height: key.size.height)
            kept[key] = picture
            for part in parts {
                let inside = part.moved(x: -placed.area.columns.lowerBound, y: -placed.area.rows.lowerBound)
                // Sixels that reach below the last row would move the screen up.
                let isLowest = part.rows.upperBound == frame.cells.height
                let cut = picture.cut(inside, cell: cell, rowsPerBand: isLowest ? 6 : 1)
                if cut.height > 0 { bytes += Self.show(Chafa.sixels(cut), at: part) }
            }
        }
        scaled = kept
        return bytes
    }

    private static func show(_ sixels: [UInt8], at part: CellRect) -> [UInt8] {
        CursorBytes.goTo(part) + sixels + CursorBytes.goBack
    }
}

extension Picture {
    /// Returns the pixels of some cells; rows beyond a multiple of `rowsPerBand` are left out.
    fileprivate func cut(_ cells: CellRect, cell: Size, rowsPerBand: Int) -> Picture {
        let corner = (x: cells.columns.lowerBound * Int(cell.width), y: cells.rows.lowerBound * Int(cell.height))
        var size = PixelSize(cells, cell: cell)
        size.height -= size.height % rowsPerBand
        if size == PixelSize(self) { return self }
        var cut: [UInt8] = []
        cut.reserveCapacity(size.width * size.height * 4)
        for y in corner.y..<corner.y + size.height {
            let start = (y * width + corner.x) * 4
            cut += bytes[start..<start + size.width * 4]
        }
        return Picture(width: size.width, height: size.height, bytes: cut)
    }
}

/// Moves the cursor for a picture, and back.
enum CursorBytes {
    /// Saves the position of the cursor, and moves it to the upper left cell of an area.
    static func goTo(_ area: CellRect) -> [UInt8] {
        Array("\u{1B}7\u{1B}[\(area.rows.lowerBound + 1);\(area.columns.lowerBound + 1)H".utf8)
    }

    /// Moves the cursor back to the saved position.
    static let goBack = Array("\u{1B}8".utf8)
}
#endif
