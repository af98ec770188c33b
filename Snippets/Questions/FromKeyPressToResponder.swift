// One key, followed from the input queue to the end of the responder chain.

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTesting

/// The lines that the responders and the loop print, in order.
@MainActor final class Report {
    var recorder: RunLoop.TraceRecorder?
    func note(_ text: String) { recorder?.note(text) }
}

final class LetterView: View {
    let report: Report
    init(_ report: Report) {
        self.report = report
        super.init(frame: Rect(0, 0, 10, 1))
    }
    override var canBecomeFirstResponder: Bool { true }
    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        report.note("the view gets the key first, and passes it on")
        super.pressesBegan(presses, with: event)
    }
}

final class LetterController: ViewController {
    let report = Report()
    private(set) lazy var letters = LetterView(report)
    override func loadView() { view = letters }
    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        let keys = presses.map { "\($0.key)" }
        report.note("its controller is next in the chain, and uses \(keys[0])")
    }
}

try TestApplication.with { app in
    let controller = LetterController()
    app.show(controller)
    controller.letters.becomeFirstResponder()
    let recorder = RunLoop.TraceRecorder(app.manual.loop)
    controller.report.recorder = recorder
    app.press(.character("a"))
    // The rest of the trace is the commit.
    print(recorder.lines.prefix { !$0.contains("commit") }.joined(separator: "\n"))
}
