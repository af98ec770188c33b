// A thousand changes of a view in one callout: one layout, one drawing, one frame.

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTesting

final class Gauge: View {
    var value = 0 {
        didSet {
            setNeedsLayout()
            setNeedsDisplay()
        }
    }
    override func layoutSubviews() { print("  layout") }
    override func draw(in canvas: inout Canvas) {
        print("  draw \(value)")
        canvas.write("\(value)", at: .zero)
    }
}

try TestApplication.with { app in
    print("shown for the first time:")
    let gauge = Gauge(frame: Rect(0, 0, 10, 1))
    app.show(gauge)
    let loop = app.manual.loop
    let before = app.display.frameCount

    loop.performLocally(in: .common) {
        print("the callout begins")
        for value in 1...1000 { gauge.value = value }
        print("the callout ends")
    }
    let last = RunLoop.Observer(.beforeWaiting, order: .max, repeats: false) { _, _ in print("the thread may sleep") }
    loop.add(last, in: .common)
    app.settle()
    print("frames: \(app.display.frameCount - before)")
}
