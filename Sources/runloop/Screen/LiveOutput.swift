// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A live screen that writes only the lines that changed.
@MainActor
final class LiveOutput: DemoOutput {
    private let theme: Theme
    private let keys: [(key: String, what: String)]
    private let interval: Duration
    private var frame = LiveFrame()

    var isSlow = false

    init(theme: Theme, keys: [(key: String, what: String)], interval: Duration) {
        self.theme = theme
        self.keys = keys
        self.interval = interval
        Terminal.leaveAtExit()
    }

    func note(_ lines: [DemoLine]) {}

    func commit(_ model: DemoModel) {
        let screen = Screen(
            model: model, size: frame.size, theme: theme, keys: keys, interval: interval, isSlow: isSlow)
        frame.show(screen.frame().map(theme.render))
    }

    func invalidate() { frame.invalidate() }

    func suspend() { Terminal.leave() }

    func resume() {
        Terminal.enter()
        invalidate()
    }
}
