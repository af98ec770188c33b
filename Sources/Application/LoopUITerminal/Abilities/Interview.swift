// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI
internal import RunLoopsTerminal

extension Interview {
    /// Returns how the terminal shows pictures; nil if it shows none.
    ///
    /// - Parameter device: The size of a cell in pixels from the device, which is preferred to the terminal's answer.
    func pictures(cell device: (width: Int, height: Int)?) -> PictureAbility? {
        let cell = (device ?? cell).map { Size(Double($0.width), Double($0.height)) }
        if hasKittyGraphics { return PictureAbility(.kitty, cell: cell) }
        return hasSixels && cell != nil ? PictureAbility(.sixel, cell: cell) : nil
    }

    /// Returns the abilities, corrected by the terminal's answers.
    func improved(_ abilities: DisplayAbilities) -> DisplayAbilities {
        var result = abilities
        if takesDirectColors, result.colors != .none { result.colors = .direct }
        if refusesMouse { result.hasPointer = false }
        if refusesFocus { result.reportsFocus = false }
        result.reportsKeyEnds = hasKeyEnds
        return result
    }
}
