// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
import LoopUI

/// What cells and controls look like, on one screen.
final class Gallery: View {
    private let name = TextField(placeholder: "Your name")
    private let views: [(view: View, frame: Rect)]

    init() {
        let progress = ProgressView(progress: 0.62)
        let choice = SegmentedControl(["Tap", "Pan", "Pinch"])
        choice.selectedIndex = 1
        let status = StatusBar(left: "Stories", center: "tracking mode", right: "60 frames/s")
        views = [
            (name, Rect(5, 12, 26, 1)), (choice, Rect(5, 14, 26, 1)),
            (Switch("Delays touches", isOn: true), Rect(5, 16, 26, 1)),
            (progress, Rect(36, 12, 35, 1)), (Button("Draw"), Rect(36, 14, 10, 1)),
            (Button("Cancel"), Rect(48, 14, 12, 1)), (Label("One frame a turn of the loop."), Rect(36, 16, 35, 1)),
            (status, Rect(0, 20, 76, 1)),
        ]
        super.init()
        for (view, frame) in views {
            view.frame = frame
            addSubview(view)
        }
        name.text = "Ada Lovelace"
    }

    /// Has the keys go to the field, so that its cursor is seen.
    func begin() { name.becomeFirstResponder() }

    override func draw(in canvas: inout Canvas) {
        let area = Rect(0, 0, canvas.size.width, canvas.size.height - 1)
        canvas.border(area, .rounded, style: Style(.blue))
        canvas.write(" From the first touch to the drawn picture ", at: Point(3, 0), style: Style(.cyan, .bold))
        letters(in: &canvas)
        colors(in: &canvas)
        canvas.border(Rect(3, 10, 30, 9), .single, style: Style(.gray))
        canvas.border(Rect(34, 10, 39, 9), .single, style: Style(.gray))
        canvas.write("▁▂▃▄▅▆▇█▇▆▅▄▃▂▁▂▃▄▅▆▇█▇▆▅▄▃▂▁▂▃▄▅▆", at: Point(36, 17), style: Style(.green))
    }

    private func letters(in canvas: inout Canvas) {
        let samples: [(String, Style.Attributes)] = [
            ("plain", []), ("bold", .bold), ("dim", .dim), ("italic", .italic), ("underline", .underline),
            ("inverse", .inverse), ("struck", .strikethrough), ("bold italic", [.bold, .italic]),
        ]
        var x = 3.0
        for (name, attributes) in samples {
            x += canvas.write(name, at: Point(x, 2), style: Style(.default, attributes)) + 2
        }
        canvas.write("ÄÖÜß éàç ñ  Ελληνικά  Кириллица  →←↑↓ ✓ ★  ∑√∞≈  日本語 漢字", at: Point(3, 4))
    }

    private func colors(in canvas: inout Canvas) {
        for index in 0..<16 {
            canvas.fill(
                Rect(3 + Double(index) * 4.375, 6, 4.375, 1), style: Style(on: .palette(UInt8(index))))
        }
        for column in 0..<70 {
            let part = Double(column) / 69
            let (red, green) = (UInt8(255 * part), UInt8(220 * (1 - abs(part * 2 - 1))))
            canvas.fill(
                Rect(3 + Double(column), 8, 1, 1), style: Style(on: .rgb(red, green, UInt8(255 * (1 - part)))))
        }
    }
}
#endif
