// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
internal import LoopUI

/// A character for lines, borders, bars or shades, drawn from edge to edge of its cell.
///
/// The letters of fonts leave gaps, where a cell is a little larger than the letter.
struct LineSign: Equatable {
    /// The line from the middle of the cell to an edge.
    enum Arm: Equatable {
        case none, light, heavy, double
    }

    enum Shape: Equatable {
        /// Four arms: left, up, right, down.
        case arms(Arm, Arm, Arm, Arm)
        /// A quarter of a circle between the same two arms as the square corner has.
        case corner(right: Bool, down: Bool)
        /// Parts of the cell that are filled, in eighths: columns and rows.
        case block(x: Range<Int>, y: Range<Int>)
        /// All of the cell, paler.
        case shade(Double)
    }

    let shape: Shape

    /// The sign; nil for glyphs that are letters.
    init?(_ glyph: Glyph) {
        guard let character = glyph.character, let scalar = character.unicodeScalars.first,
            (0x2500...0x259F).contains(scalar.value), let shape = Self.shape(scalar.value, character)
        else { return nil }
        self.shape = shape
    }

    private static func shape(_ number: UInt32, _ character: Character) -> Shape? {
        switch number {
        case 0x2581...0x2588: return .block(x: 0..<8, y: 8 - Int(number - 0x2580)..<8)
        case 0x2589...0x258F: return .block(x: 0..<Int(0x2590 - number), y: 0..<8)
        case 0x2580: return .block(x: 0..<8, y: 0..<4)
        case 0x2590: return .block(x: 4..<8, y: 0..<8)
        case 0x2591...0x2593: return .shade(Double(number - 0x2590) / 4)
        case 0x2594: return .block(x: 0..<8, y: 0..<1)
        case 0x2595: return .block(x: 7..<8, y: 0..<8)
        case 0x256D: return .corner(right: true, down: true)
        case 0x256E: return .corner(right: false, down: true)
        case 0x256F: return .corner(right: false, down: false)
        case 0x2570: return .corner(right: true, down: false)
        default: return arms[character]
        }
    }

    private static let arms: [Character: Shape] = {
        // Left, up, right, down: 0 nothing, 1 light, 2 heavy, 3 double.
        let table: [(Character, [Int])] = [
            ("─", [1, 0, 1, 0]), ("│", [0, 1, 0, 1]), ("┌", [0, 0, 1, 1]), ("┐", [1, 0, 0, 1]),
            ("└", [0, 1, 1, 0]), ("┘", [1, 1, 0, 0]), ("├", [0, 1, 1, 1]), ("┤", [1, 1, 0, 1]),
            ("┬", [1, 0, 1, 1]), ("┴", [1, 1, 1, 0]), ("┼", [1, 1, 1, 1]),
            ("━", [2, 0, 2, 0]), ("┃", [0, 2, 0, 2]), ("┏", [0, 0, 2, 2]), ("┓", [2, 0, 0, 2]),
            ("┗", [0, 2, 2, 0]), ("┛", [2, 2, 0, 0]), ("┣", [0, 2, 2, 2]), ("┫", [2, 2, 0, 2]),
            ("┳", [2, 0, 2, 2]), ("┻", [2, 2, 2, 0]), ("╋", [2, 2, 2, 2]),
            ("═", [3, 0, 3, 0]), ("║", [0, 3, 0, 3]), ("╔", [0, 0, 3, 3]), ("╗", [3, 0, 0, 3]),
            ("╚", [0, 3, 3, 0]), ("╝", [3, 3, 0, 0]),
            ("╴", [1, 0, 0, 0]), ("╵", [0, 1, 0, 0]), ("╶", [0, 0, 1, 0]), ("╷", [0, 0, 0, 1]),
            ("╸", [2, 0, 0, 0]), ("╹", [0, 2, 0, 0]), ("╺", [0, 0, 2, 0]), ("╻", [0, 0, 0, 2]),
        ]
        let kinds: [Arm] = [.none, .light, .heavy, .double]
        return Dictionary(
            uniqueKeysWithValues: table.map { sign, arms in
                (sign, .arms(kinds[arms[0]], kinds[arms[1]], kinds[arms[2]], kinds[arms[3]]))
            })
    }()

    // MARK: Drawing

    /// Draws the sign in a cell, with the colour that is set.
    func draw(_ cell: Rect, on surface: OpaquePointer) {
        switch shape {
        case .arms(let left, let up, let right, let down): draw([left, up, right, down], cell, surface)
        case .corner(let right, let down): drawCorner(right, down, cell, surface)
        case .block(let x, let y):
            func edge(_ eighths: Int, _ length: Double) -> Double { (length * Double(eighths) / 8).rounded() }
            fill(
                cell.minX + edge(x.lowerBound, cell.width), cell.minY + edge(y.lowerBound, cell.height),
                cell.minX + edge(x.upperBound, cell.width), cell.minY + edge(y.upperBound, cell.height), surface)
        case .shade(let part):
            var (red, green, blue, alpha) = (0.0, 0.0, 0.0, 0.0)
            cairo_pattern_get_rgba(cairo_get_source(surface), &red, &green, &blue, &alpha)
            cairo_set_source_rgba(surface, red, green, blue, part)
            fill(cell.minX, cell.minY, cell.maxX, cell.maxY, surface)
        }
    }

    private func fill(
        _ left: Double, _ top: Double, _ right: Double, _ bottom: Double, _ surface: OpaquePointer
    ) {
        cairo_rectangle(surface, left, top, right - left, bottom - top)
        cairo_fill(surface)
    }

    /// How thick a light line is.
    private func thickness(_ cell: Rect) -> Double { max(1, (cell.height / 16).rounded()) }

    private func draw(_ arms: [Arm], _ cell: Rect, _ surface: OpaquePointer) {
        let light = thickness(cell)
        let (x, y) = ((cell.center.x - light / 2).rounded(), (cell.center.y - light / 2).rounded())
        // Where the strokes of an arm lie across it, as distances from the light line's place, and how thick they are.
        func strokes(_ arm: Arm) -> (places: [Double], thickness: Double) {
            switch arm {
            case .none: ([], 0)
            case .light: ([0], light)
            case .heavy: ([-(light / 2).rounded(.up)], light + 2 * (light / 2).rounded(.up))
            case .double: ([-light, light], light)
            }
        }
        // An arm reaches over the middle, so that corners are closed: to the outer stroke on a bend's outside, to the
        // inner one on its inside.
        func middle(_ across: (Arm, Arm), _ place: Double, _ isNegative: Bool) -> (low: Double, high: Double) {
            let crossing = strokes(across.0 == .none ? across.1 : across.0)
            guard let low = crossing.places.first, let high = crossing.places.last else { return (0, light) }
            if crossing.places.count == 1 { return (low, low + crossing.thickness) }
            // A double bend: across has one arm alone. The stroke on the arm's side is the inner one.
            let isInner = across.0 != .none ? place < 0 : place > 0
            return isNegative == isInner ? (low, low + light) : (high, high + light)
        }
        for (index, arm) in arms.enumerated() where arm != .none {
            let (places, thick) = strokes(arm)
            for place in places {
                switch index {
                case 0:
                    fill(
                        cell.minX, y + place, x + middle((arms[1], arms[3]), place, true).high, y + place + thick,
                        surface)
                case 1:
                    fill(
                        x + place, cell.minY, x + place + thick, y + middle((arms[0], arms[2]), place, true).high,
                        surface)
                case 2:
                    fill(
                        x + middle((arms[1], arms[3]), place, false).low, y + place, cell.maxX, y + place + thick,
                        surface)
                default:
                    fill(
                        x + place, y + middle((arms[0], arms[2]), place, false).low, x + place + thick, cell.maxY,
                        surface)
                }
            }
        }
    }

    private func drawCorner(_ right: Bool, _ down: Bool, _ cell: Rect, _ surface: OpaquePointer) {
        let light = thickness(cell)
        let x = (cell.center.x - light / 2).rounded() + light / 2
        let y = (cell.center.y - light / 2).rounded() + light / 2
        let (endX, endY) = (right ? cell.maxX : cell.minX, down ? cell.maxY : cell.minY)
        let radius = min(abs(endX - x), abs(endY - y))
        // From the end of the vertical arm through the bend to the end of the level one.
        cairo_new_path(surface)
        cairo_move_to(surface, x, endY)
        cairo_line_to(surface, x, y + (down ? radius : -radius))
        cairo_curve_to(
            surface, x, y + (down ? radius : -radius) * 0.45, x + (right ? radius : -radius) * 0.45, y,
            x + (right ? radius : -radius), y)
        cairo_line_to(surface, endX, y)
        cairo_set_line_width(surface, light)
        cairo_stroke(surface)
    }
}
#endif
