/// A live screen that writes only the lines that changed.
@MainActor
final class LiveOutput: DemoOutput {
    private let theme: Theme
    private let keys: [(key: String, what: String)]
    private let interval: Duration
    /// The frame that is on the terminal; nil where nothing is known of it.
    private var shown: [String]?
    private var size = Terminal.size()

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
            model: model, size: size, theme: theme, keys: keys, interval: interval, isSlow: isSlow)
        let frame = screen.frame().map(theme.render)
        var text = shown == nil ? "\u{1B}[2J" : ""
        for row in frame.indices where shown.map({ row >= $0.count || $0[row] != frame[row] }) ?? true {
            text += "\u{1B}[\(row + 1);1H" + frame[row]
        }
        shown = frame
        if !text.isEmpty { Terminal.write(text) }
    }

    func invalidate() {
        size = Terminal.size()
        shown = nil
    }

    func suspend() { Terminal.leave() }

    func resume() {
        Terminal.enter()
        invalidate()
    }
}
