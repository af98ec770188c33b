// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// Themes: where views get them from, and whether they can be read.
@MainActor @Suite struct ThemeTests {
    private var blue: Theme { Theme(accent: .blue, destructive: .red) }

    @Test func `The theme is taken from the view, its superviews or the application`() throws {
        try TestApplication.with { app in
            let (outer, inner) = (View(), View())
            outer.addSubview(inner)
            app.show(outer)
            #expect(inner.theme == .standard)
            app.application.theme = .monochrome
            #expect(inner.theme == .monochrome)
            outer.theme = blue
            #expect(inner.theme == blue)
            inner.theme = .standard
            #expect(inner.theme == .standard)
            inner.resetTheme()
            outer.resetTheme()
            #expect(inner.theme == .monochrome)
        }
    }

    @Test func `Setting or resetting a window's theme redraws the views in the window`() throws {
        try TestApplication.with(size: Size(10, 1)) { app in
            let toggle = Switch("x", isOn: true).at(0, 0, 10)
            let window = app.show(all: toggle)
            #expect(app.style(0, 0)?.foreground == .magenta)
            window.theme = blue
            app.settle()
            #expect(app.style(0, 0)?.foreground == .blue)
            window.resetTheme()
            app.application.theme = .monochrome
            app.settle()
            #expect(app.style(0, 0)?.foreground == .default)
        }
    }

    @Test func `A display without colours and Unicode gets a plain theme`() throws {
        var abilities = DisplayAbilities()
        abilities.colors = .none
        abilities.hasUnicode = false
        let theme = Theme(for: abilities)
        for style in theme.all { #expect(style.foreground == .default && style.background == .clear) }
        try TestApplication.with(size: Size(12, 4)) { app in
            app.display.abilities = abilities
            let spinner = Spinner("busy").at(0, 3, 12)
            spinner.isAnimating = true
            app.show(
                all: ProgressView(progress: 0.5).at(0, 0, 12), Label("too long a label").at(0, 1, 12),
                SplitView(.horizontal, Label("a"), Label("b")).at(0, 2, 9), spinner)
            let isASCII = app.text.allSatisfy(\.isASCII)
            #expect(isASCII)
            #expect(app.text.hasPrefix("###----  50%\ntoo long ...\na   |b\n"))
        }
    }

    @Test func `Without colours the states of a control still differ`() {
        let theme = Theme.monochrome
        #expect(Set([theme.text, theme.focus, theme.highlight, theme.disabled, theme.destructive]).count == 5)
        #expect(theme.selection != theme.text && theme.field != theme.text)
    }

    /// xterm's colours, and the contrast that the Web Content Accessibility Guidelines ask of large letters.
    @Test func `The standard theme is legible on black and on white`() {
        let palette: [UInt8: (Double, Double, Double)] = [
            0: (0, 0, 0), 1: (205, 0, 0), 2: (0, 205, 0), 3: (205, 205, 0), 4: (0, 0, 238), 5: (205, 0, 205),
            6: (0, 205, 205), 7: (229, 229, 229), 8: (127, 127, 127),
        ]
        func light(_ color: (Double, Double, Double)) -> Double {
            func linear(_ value: Double) -> Double { value / 255 * value / 255 }
            return 0.2126 * linear(color.0) + 0.7152 * linear(color.1) + 0.0722 * linear(color.2)
        }
        for style in Theme.standard.all {
            guard case .palette(let index) = style.foreground.kind, let color = palette[index] else { continue }
            #expect((light(color) + 0.05) / 0.05 >= 3)
            #expect(1.05 / (light(color) + 0.05) >= 3)
        }
        #expect(Theme.standard.all.contains { $0.foreground != .default })
    }
}

extension Theme {
    fileprivate var all: [Style] {
        [text, secondary, accent, selection, focus, highlight, destructive, disabled, border, field, bar]
    }
}
