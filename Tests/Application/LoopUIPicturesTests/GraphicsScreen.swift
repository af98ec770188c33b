// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Pictures
/// A screen of pixels, as a terminal has it that knows sixels and kitty's protocol; it reads nothing but pictures, the
/// ways of the cursor around them, and letters.
struct GraphicsScreen {
    typealias Color = [UInt8]

    let columns: Int
    let rows: Int
    let cell: (width: Int, height: Int)
    /// The pixels of sixels; letters remove them.
    private(set) var sixels: [Color?]
    /// The images that are kept, by their numbers: width and pixels.
    private(set) var images: [Int: (width: Int, pixels: [Color])] = [:]
    /// What is shown of the images, by image and placement.
    private(set) var placements: [[Int]: [String: Int]] = [:]
    /// What was wrong.
    private(set) var complaints: [String] = []
    /// How many bytes of pixels came.
    private(set) var received = 0
    private var cursor = (x: 0, y: 0)
    private var saved = (x: 0, y: 0)
    private var incoming: (keys: [String: Int], bytes: [UInt8])?

    init(columns: Int, rows: Int, cell: (width: Int, height: Int)) {
        (self.columns, self.rows, self.cell) = (columns, rows, cell)
        sixels = Array(repeating: nil, count: columns * cell.width * rows * cell.height)
    }

    var width: Int { columns * cell.width }

    // MARK: Reading

    mutating func feed(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == 0x1B else {
                complaints.append("a letter: \(byte)")
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "7"): saved = cursor
            case UInt8(ascii: "8"): cursor = saved
            case UInt8(ascii: "["): feedControl(&rest)
            case UInt8(ascii: "P"): feedSixels(Self.string(&rest))
            case UInt8(ascii: "_"): feedGraphics(Self.string(&rest))
            default: complaints.append("an unknown sequence")
            }
        }
    }

    /// What stands before the end of a string.
    private static func string(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        while let byte = rest.popFirst(), byte != 0x1B { text.append(byte) }
        _ = rest.popFirst()
        return text
    }

    private mutating func feedControl(_ rest: inout ArraySlice<UInt8>) {
        var text = ""
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "H") {
                let numbers = text.split(separator: ";").compactMap { Int($0) }
                cursor = (x: numbers[1] - 1, y: numbers[0] - 1)
                return
            }
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
    }

    /// Writes letters over cells.
    mutating func write(x: Int, y: Int, count: Int) {
        for pixel in y * cell.height..<(y + 1) * cell.height {
            for place in x * cell.width..<(x + count) * cell.width { sixels[pixel * width + place] = nil }
        }
    }

    // MARK: Sixels

    private mutating func feedSixels(_ text: [UInt8]) {
        received += text.count
        guard let start = text.firstIndex(of: UInt8(ascii: "q")), text[..<start].elementsEqual("0;1;0".utf8) else {
            complaints.append("not sixels with a transparent ground")
            return
        }
        var (rest, place, color, count) = (text[(start + 1)...], (x: 0, y: 0), 0, 1)
        var colors: [Int: Color] = [:]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): _ = Self.numbers(&rest)
            case UInt8(ascii: "#"):
                let numbers = Self.numbers(&rest)
                color = numbers[0]
                if numbers.count == 5, numbers[1] == 2 { colors[color] = numbers[2...].map { UInt8($0 * 255 / 100) } }
            case UInt8(ascii: "!"): count = Self.numbers(&rest)[0]
            case UInt8(ascii: "$"): place.x = 0
            case UInt8(ascii: "-"):
                place = (0, place.y + 6)
                if cursor.y * cell.height + place.y >= rows * cell.height { complaints.append("the screen moves up") }
            case 0x3F...0x7E:
                for column in place.x..<place.x + count {
                    for bit in 0..<6 where (byte - 0x3F) & 1 << bit != 0 {
                        set(column, place.y + bit, colors[color] ?? [])
                    }
                }
                (place.x, count) = (place.x + count, 1)
            default: complaints.append("\(byte) among sixels")
            }
        }
    }

    private mutating func set(_ x: Int, _ y: Int, _ color: Color) {
        let (left, top) = (cursor.x * cell.width + x, cursor.y * cell.height + y)
        if left >= width || top >= rows * cell.height {
            complaints.append("a pixel outside of the screen")
        } else {
            sixels[top * width + left] = color
        }
    }

    private static func numbers(_ rest: inout ArraySlice<UInt8>) -> [Int] {
        var numbers = [0]
        while let byte = rest.first, byte == UInt8(ascii: ";") || (0x30...0x39).contains(byte) {
            rest.removeFirst()
            if byte == UInt8(ascii: ";") {
                numbers.append(0)
            } else {
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte) - 0x30
            }
        }
        return numbers
    }

    // MARK: kitty's protocol

    private mutating func feedGraphics(_ text: [UInt8]) {
        guard text.first == UInt8(ascii: "G") else { return complaints.append("an unknown command") }
        let parts = text.dropFirst().split(separator: UInt8(ascii: ";"), maxSplits: 1, omittingEmptySubsequences: false)
        var (keys, action, deletion) = ([String: Int](), "", "")
        for pair in String(decoding: parts[0], as: UTF8.self).split(separator: ",") {
            let halves = pair.split(separator: "=").map(String.init)
            switch halves[0] {
            case "a": action = halves[1]
            case "d": deletion = halves[1]
            default: keys[halves[0]] = Int(halves[1])
            }
        }
        let payload = parts.count > 1 ? Array(parts[1]) : []
        received += payload.count
        if payload.count > 4096 { complaints.append("a chunk is too long") }
        if let old = incoming {
            if !action.isEmpty { complaints.append("a command inside an image") }
            incoming = (old.keys, old.bytes + Self.decode64(payload))
            if keys["m"] == 0 { endImage() }
            return
        }
        if keys["q"] != 2 { complaints.append("an answer would come") }
        let (image, placement) = (keys["i"] ?? 0, keys["p"] ?? 0)
        switch (action, deletion) {
        case ("t", _): incoming = (keys, Self.decode64(payload))
        case ("p", _):
            if images[image] == nil { complaints.append("no image \(image)") }
            if keys["C"] != 1 { complaints.append("the cursor would move") }
            placements[[image, placement]] = keys.merging(["left": cursor.x, "top": cursor.y]) { $1 }
        case ("d", "i"):
            if placements.removeValue(forKey: [image, placement]) == nil { complaints.append("no placement") }
        case ("d", "I"):
            images[image] = nil
            placements = placements.filter { $0.key[0] != image }
        default: complaints.append("a command \(action) \(deletion)")
        }
    }

    private mutating func endImage() {
        guard let (keys, bytes) = incoming else { return }
        incoming = nil
        let step = (keys["f"] ?? 0) / 8
        let pixels = stride(from: 0, to: bytes.count - step + 1, by: step).map { Array(bytes[$0..<$0 + step]) }
        if pixels.count != (keys["s"] ?? 0) * (keys["v"] ?? 0) { complaints.append("\(pixels.count) pixels") }
        images[keys["i"] ?? 0] = (keys["s"] ?? 0, pixels)
    }

    /// Each chunk is a whole number of bytes, with its own padding.
    private static func decode64(_ text: [UInt8]) -> [UInt8] {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var (bytes, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for letter in text {
            guard let value = letters.firstIndex(of: letter) else { continue }
            (bits, count) = (bits << 6 | UInt32(value), count + 6)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    // MARK: What is seen

    /// The colour of a pixel; `nil` if no picture is there.
    func pixel(_ x: Int, _ y: Int) -> Color? {
        for (key, keys) in placements {
            guard let image = images[key[0]], let columns = keys["c"], let rows = keys["r"] else { continue }
            let (left, top) = ((keys["left"] ?? 0) * cell.width, (keys["top"] ?? 0) * cell.height)
            let (across, down) = (columns * cell.width, rows * cell.height)
            guard (left..<left + across).contains(x), (top..<top + down).contains(y) else { continue }
            let (width, height) = (keys["w"] ?? image.width, keys["h"] ?? image.pixels.count / image.width)
            let column = (keys["x"] ?? 0) + (x - left) * width / across
            let row = (keys["y"] ?? 0) + (y - top) * height / down
            let color = image.pixels[row * image.width + column]
            if color.count < 4 || color[3] > 0 { return Array(color.prefix(3)) }
        }
        return sixels[y * width + x]
    }
}
#endif
