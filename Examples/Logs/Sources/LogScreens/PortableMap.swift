// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LogModel
public import LoopUI

/// Reads pictures in the binary formats of Netpbm: P6 in colours and P5 in greys, a byte each.
public enum PortableMap {
    /// More bytes are no picture for a terminal.
    static let largest = 64 << 20

    /// Reads a file.
    ///
    /// - Throws: The reason, if it is no such picture.
    public static func read(_ path: String) throws(LogError) -> Picture {
        let file = try LogFile(path)
        return try picture(file.bytes(0..<min(largest, file.size)))
    }

    /// Reads a file, and makes the picture no larger than a terminal can show.
    static func preview(_ path: String) throws(LogError) -> Picture { preview(try read(path)) }

    /// The picture, no larger than a terminal can show.
    static func preview(_ picture: Picture) -> Picture {
        let scale = min(1, 400 / Double(max(picture.width, picture.height)))
        func scaled(_ side: Int) -> Int { max(1, Int(Double(side) * scale)) }
        return picture.scaled(width: scaled(picture.width), height: scaled(picture.height))
    }

    /// The picture that bytes describe.
    ///
    /// - Throws: The reason, if they do not.
    public static func picture(_ bytes: [UInt8]) throws(LogError) -> Picture {
        var header = bytes[...]
        let magic = Array(header.prefix(2))
        header = header.dropFirst(2)
        guard magic == [80, 54] || magic == [80, 53] else { throw LogError("not a binary PPM or PGM") }
        guard let width = number(&header), let height = number(&header), let most = number(&header),
            (1...65535).contains(width), (1...65535).contains(height), (1...255).contains(most)
        else { throw LogError("a header that cannot be read") }
        // One white space follows the header.
        let pixels = header.dropFirst()
        let parts = magic[1] == 54 ? 3 : 1
        let (start, count) = (pixels.startIndex, width * height)
        guard pixels.count >= count * parts else { throw LogError("too few pixels") }
        func value(_ index: Int) -> UInt8 { UInt8(min(255, Int(pixels[start + index]) * 255 / most)) }
        let result = [UInt8](unsafeUninitializedCapacity: count * 4) { buffer, filled in
            for pixel in 0..<count {
                for part in 0..<3 { buffer[pixel * 4 + part] = value(pixel * parts + min(part, parts - 1)) }
                buffer[pixel * 4 + 3] = 255
            }
            filled = count * 4
        }
        return Picture(width: width, height: height, bytes: result)
    }

    /// The next number of a header, past white space and comments.
    private static func number(_ header: inout ArraySlice<UInt8>) -> Int? {
        while let byte = header.first {
            if byte == 35 {
                header = header.drop { $0 != 10 }
            } else if byte == 32 || (9...13).contains(byte) {
                header = header.dropFirst()
            } else {
                break
            }
        }
        let digits = header.prefix { (48...57).contains($0) }
        header = header.dropFirst(digits.count)
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// The paths of pictures that a line names; the directory is the one of the log.
    static func paths(in line: String, directory: String) -> [String] {
        line.split { " \t\"'`()[]{}<>=,;|".contains($0) }.compactMap { word in
            let path = word.last == "." || word.last == ":" ? word.dropLast() : word
            let name = path.lowercased()
            guard name.hasSuffix(".ppm") || name.hasSuffix(".pgm") else { return nil }
            return path.first == "/" ? String(path) : directory + path
        }
    }
}
