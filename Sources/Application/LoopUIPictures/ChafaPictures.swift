// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Pictures
public import LoopUI
public import LoopUITerminal

/// Shows pictures with their own pixels on terminals that can do so, by the library Chafa.
///
/// A program passes this writer to its terminal:
///
/// ```swift
/// Application.main(Program.self, pictures: ChafaPictures())
/// ```
///
/// The application asks the terminal how it shows pictures: by kitty's protocol, by sixels, or not at all. An `ImageView`
/// needs nothing else. A picture that stays where it is is sent only once. By kitty's protocol, a picture that moves or
/// is covered in part is placed anew, without being sent again; by sixels, the parts that have changed are sent.
public final class ChafaPictures: PictureWriter {
    private var kitty = KittyPictures()
    private var sixels = SixelPictures()

    /// Makes a writer for one terminal.
    public init() {}

    /// Returns the bytes that remove pictures that are no longer in the frame, and show new ones.
    ///
    /// - Complexity: O(cells of all pictures), and O(pixels) for each picture that is sent.
    public func bytes(for frame: Frame, since old: CellGrid?, by ability: PictureAbility) -> [UInt8] {
        switch ability.way {
        case .kitty: kitty.bytes(for: frame, since: old, cell: ability.cell)
        case .sixel: ability.cell.map { sixels.bytes(for: frame, since: old, cell: $0) } ?? []
        }
    }
}
#endif
