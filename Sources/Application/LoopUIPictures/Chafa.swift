// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Pictures
internal import CLoopUIChafa
internal import LoopUI

/// Encodes pictures for terminals, by the library Chafa.
enum Chafa {
    /// Returns a picture as sixels, in up to 256 colours of its own.
    ///
    /// Pixels of less than half opacity are left out: the terminal keeps the pixels that it shows there.
    static func sixels(_ picture: Picture) -> [UInt8] {
        // Chafa would cut rows off that do not fill six, and stretch what is left.
        let missing = (6 - picture.height % 6) % 6
        let padding = [UInt8](repeating: 0, count: missing * picture.width * 4)
        let padded = Picture(
            width: picture.width, height: picture.height + missing, bytes: picture.bytes + padding)
        var bytes = print(padded, CHAFA_PIXEL_MODE_SIXELS, PixelSize(padded), "\u{1B}P%1;%2;%3q", "")
        // A new line of sixels at the end would move the screen up where there is no room for one.
        if bytes.last == UInt8(ascii: "-") { bytes.removeLast() }
        return bytes + [0x1B, UInt8(ascii: "\\")]
    }

    /// Returns the bytes that send a picture to a terminal, which keeps it under a number and does not show it yet
    /// (kitty's protocol).
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - size: The number of pixels that are sent.
    ///   - number: The number, not 0.
    static func kitty(_ picture: Picture, _ size: PixelSize, number: UInt32) -> [UInt8] {
        // Chafa writes rubbish if one of its five numbers is missing; the last two have no meaning before a placement.
        print(
            picture, CHAFA_PIXEL_MODE_KITTY, size,
            "\u{1B}_Ga=t,i=\(number),q=2,f=%1,s=%2,v=%3,c=%4,r=%5,m=1\u{1B}\\", "\u{1B}_Gm=0\u{1B}\\")
    }

    private static func print(
        _ picture: Picture, _ mode: ChafaPixelMode, _ size: PixelSize, _ begin: String, _ end: String
    ) -> [UInt8] {
        guard
            let bytes = rlc_print(
                mode, begin, end, picture.bytes, CInt(picture.width), CInt(picture.height), CInt(size.width),
                CInt(size.height))
        else { return [] }
        defer { rlc_free(bytes) }
        // SAFETY: the string has that many bytes, and lives until it is freed.
        return UnsafeBufferPointer(start: bytes.pointee.str, count: Int(bytes.pointee.len)).map(UInt8.init(bitPattern:))
    }
}
#endif
