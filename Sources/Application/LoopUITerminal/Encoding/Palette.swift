// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// The colours of a terminal's palette, and the search for the colour that is nearest to one outside of the palette.
enum Palette {
    typealias Parts = (red: Int, green: Int, blue: Int)

    /// The first 16 colours of xterm's palette; the user's may differ.
    private static let basic: [Parts] = [
        (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
        (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
        (255, 255, 255),
    ]
    /// The steps of the cube of 6 × 6 × 6 colours.
    private static let steps = [0, 95, 135, 175, 215, 255]

    /// Returns the colour, or the nearest that the terminal has.
    ///
    /// A clear colour becomes the default colour, since there is nothing below.
    static func reduce(_ color: Color, to colors: DisplayAbilities.Colors) -> Color {
        switch color.kind {
        case .default, .clear: return .default
        case .palette(let index):
            if colors == .none { return .default }
            return index < 16 || colors > .palette16 ? color : nearestBasic(parts(of: index))
        case .rgb(let red, let green, let blue):
            let parts = (red: Int(red), green: Int(green), blue: Int(blue))
            return switch colors {
            case .none: .default
            case .palette16: nearestBasic(parts)
            case .palette256: nearestOf256(parts)
            case .direct: color
            }
        }
    }

    private static func parts(of index: UInt8) -> Parts {
        let index = Int(index)
        if index < 16 { return basic[index] }
        if index >= 232 { return (8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10) }
        let place = index - 16
        return (steps[place / 36], steps[place / 6 % 6], steps[place % 6])
    }

    private static func nearestBasic(_ parts: Parts) -> Color {
        var best = (index: 0, distance: Int.max)
        for (index, candidate) in basic.enumerated() {
            let distance = distance(parts, candidate)
            if distance < best.distance { best = (index, distance) }
        }
        return .palette(UInt8(best.index))
    }

    /// Returns the nearest of the 256 colours, except the first 16, whose look the user chooses.
    private static func nearestOf256(_ parts: Parts) -> Color {
        func step(_ value: Int) -> Int { value < 48 ? 0 : value < 115 ? 1 : min(5, (value - 35) / 40) }
        let (red, green, blue) = (step(parts.red), step(parts.green), step(parts.blue))
        let cube = UInt8(16 + 36 * red + 6 * green + blue)
        let gray = UInt8(232 + min(23, max(0, ((parts.red + parts.green + parts.blue) / 3 - 3) / 10)))
        let isGrayNearer = distance(parts, Self.parts(of: gray)) < distance(parts, Self.parts(of: cube))
        return .palette(isGrayNearer ? gray : cube)
    }

    private static func distance(_ first: Parts, _ second: Parts) -> Int {
        let (red, green, blue) = (first.red - second.red, first.green - second.green, first.blue - second.blue)
        // Eyes are more exact about green than about blue.
        return 3 * red * red + 4 * green * green + 2 * blue * blue
    }
}
