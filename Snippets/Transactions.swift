// Many changes, one layout.

import RunLoops
import RunLoopsKit

// snippet.TRANSACTION
final class View {
    let transaction: RunLoop.Transaction
    var layouts = 0
    var width = 0 {
        didSet { transaction.mark(self) { self.layouts += 1 } }
    }
    init(_ transaction: RunLoop.Transaction) { self.transaction = transaction }
}

let transaction = RunLoop.Transaction()
let view = View(transaction)
RunLoop.current.performLocally {
    for width in 1...100 { view.width = width }
}
RunLoop.current.run(in: .default, for: .milliseconds(10))
print("width \(view.width), laid out \(view.layouts) time")
// snippet.end
