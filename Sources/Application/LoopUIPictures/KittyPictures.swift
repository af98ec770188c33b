// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Pictures
internal import LoopUI

/// Pictures by kitty's protocol: sent once, kept by the terminal under a number, and placed over cells by that number.
struct KittyPictures {
    /// A picture in the size in which it is sent.
    private struct Image: Hashable {
        var number: UInt64
        var size: PixelSize
    }

    /// A part of an image over some cells.
    private struct Placement: Hashable {
        var image: Image
        /// The cells of the whole picture.
        var area: CellRect
        var part: CellRect
    }

    /// The numbers of the images that the terminal keeps.
    private var images: [Image: UInt32] = [:]
    /// The numbers of the placements that the terminal shows.
    private var placements: [Placement: UInt32] = [:]
    private var lastPlacement: UInt32 = 0
    /// The number of the last image: all programs in one window of the terminal share the numbers, so the first one is a
    /// great random number.
    private var lastImage: UInt32

    init(firstImage: UInt32 = UInt32.random(in: 1 << 16..<1 << 31)) { lastImage = firstImage }

    mutating func bytes(for frame: Frame, since old: CellGrid?, cell: Size?) -> [UInt8] {
        if frame.pictures.isEmpty, images.isEmpty { return [] }
        // Whoever clears the screen removes the placements, and perhaps the images.
        var bytes = old == nil ? forget() : []
        let wanted = wantedPlacements(frame, cell: cell)
        let used = Set(wanted.map(\.placement.image))
        for (image, number) in images where !used.contains(image) {
            bytes += command("a=d,d=I,i=\(number)")
            images[image] = nil
            placements = placements.filter { $0.key.image != image }
        }
        let isWanted = Set(wanted.map(\.placement))
        for (placement, number) in placements where !isWanted.contains(placement) {
            bytes += command("a=d,d=i,i=\(images[placement.image] ?? 0),p=\(number)")
            placements[placement] = nil
        }
        for (placement, picture) in wanted where placements[placement] == nil {
            bytes += show(placement, picture)
        }
        return bytes
    }

    private mutating func forget() -> [UInt8] {
        let bytes = images.values.sorted().flatMap { command("a=d,d=I,i=\($0)") }
        images = [:]
        placements = [:]
        return bytes
    }

    private func wantedPlacements(_ frame: Frame, cell: Size?) -> [(placement: Placement, picture: Picture)] {
        frame.pictures.flatMap { placed in
            let image = Image(number: placed.picture.number, size: Self.sentSize(placed, cell: cell))
            return placed.parts(in: frame.cells).map { part in
                (Placement(image: image, area: placed.area, part: part), placed.picture)
            }
        }
    }

    /// Returns the size to send: no more pixels than are seen, since the terminal enlarges small pictures itself.
    private static func sentSize(_ placed: PlacedPicture, cell: Size?) -> PixelSize {
        let own = PixelSize(placed.picture)
        guard let cell else { return own }
        let seen = PixelSize(placed.area, cell: cell)
        return own.width > seen.width || own.height > seen.height ? seen : own
    }

    private mutating func show(_ placement: Placement, _ picture: Picture) -> [UInt8] {
        var bytes: [UInt8] = []
        let number: UInt32
        if let known = images[placement.image] {
            number = known
        } else {
            lastImage &+= 1
            number = lastImage
            images[placement.image] = number
            bytes += Chafa.kitty(picture, placement.image.size, number: number)
        }
        lastPlacement &+= 1
        placements[placement] = lastPlacement
        let part = placement.part
        // The cursor stays where it is.
        let cells = "C=1,c=\(part.columns.count),r=\(part.rows.count)"
        let source = Self.source(placement)
        bytes += CursorBytes.goTo(part)
        bytes += command("a=p,i=\(number),p=\(lastPlacement),\(cells)\(source)")
        return bytes + CursorBytes.goBack
    }

    /// The pixels of a part, as keys of the protocol; nothing for the whole picture.
    private static func source(_ placement: Placement) -> String {
        let (area, part, size) = (placement.area, placement.part, placement.image.size)
        if area == part { return "" }
        func pixel(_ cell: Int, _ cells: Range<Int>, _ pixels: Int) -> Int {
            ((cell - cells.lowerBound) * pixels + cells.count / 2) / cells.count
        }
        let x = pixel(part.columns.lowerBound, area.columns, size.width)
        let y = pixel(part.rows.lowerBound, area.rows, size.height)
        let width = max(1, pixel(part.columns.upperBound, area.columns, size.width) - x)
        let height = max(1, pixel(part.rows.upperBound, area.rows, size.height) - y)
        return ",x=\(min(x, size.width - 1)),y=\(min(y, size.height - 1)),w=\(width),h=\(height)"
    }

    /// A command that the terminal does not answer.
    private func command(_ keys: String) -> [UInt8] { Array("\u{1B}_G\(keys),q=2\u{1B}\\".utf8) }
}
#endif
