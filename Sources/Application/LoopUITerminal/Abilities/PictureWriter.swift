// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI

/// Shows pictures with their own pixels on a terminal.
///
/// A program passes a writer to its terminal, such as the writer of the library LoopUIPictures. The writer is called
/// only for terminals that have answered how they show pictures. On all others, pictures are drawn as half blocks.
@MainActor public protocol PictureWriter: AnyObject {
    /// Returns the bytes that are written after the cells of a frame: they remove old pictures and show new ones.
    ///
    /// When the terminal reads the bytes, it already shows the frame's cells, which are blank under pictures. The bytes
    /// must not change the position of the cursor and the style of letters.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - old: The cells that the terminal showed before the frame; `nil` if the whole screen was cleared.
    ///   - ability: How the terminal shows pictures.
    func bytes(for frame: Frame, since old: CellGrid?, by ability: PictureAbility) -> [UInt8]
}

/// The way in which a terminal shows pictures, as the terminal has answered.
public struct PictureAbility: Hashable, Sendable {
    /// A protocol for pictures on terminals.
    public enum Way: Hashable, Sendable {
        /// The graphics protocol of kitty, which many terminals have adopted: a picture is sent once, and then shown by
        /// its name.
        case kitty
        /// The sixels of DEC's terminals: rows of six pixels, which stay until letters are written over them.
        case sixel
    }

    /// The protocol that the terminal uses for pictures.
    public var way: Way
    /// The size of a cell, in pixels; `nil` if it is not known, which only ``Way/kitty`` allows.
    public var cell: Size?

    /// Makes an ability to show pictures.
    public init(_ way: Way, cell: Size?) {
        self.way = way
        self.cell = cell
    }
}
