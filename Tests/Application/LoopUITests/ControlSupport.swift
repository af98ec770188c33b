// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting

extension TestApplication {
    /// Shows views in a window of their own, each in the frame that it has.
    @discardableResult
    func show(all views: View...) -> Window {
        let root = View()
        for view in views { root.addSubview(view) }
        return show(root)
    }

    /// A row of the display.
    func line(_ row: Int) -> String { display.frame?.cells.text(row: row) ?? "" }

    /// The style of a cell of the display.
    func style(_ x: Int, _ y: Int) -> Style? { display.frame?.cells[x, y].style }

    /// Where the cursor stands.
    var cursor: Point? { display.frame?.cursor }
}

extension View {
    /// The view, in a frame.
    func at(_ x: Double, _ y: Double, _ width: Double, _ height: Double = 1) -> Self {
        frame = Rect(x, y, width, height)
        return self
    }
}
