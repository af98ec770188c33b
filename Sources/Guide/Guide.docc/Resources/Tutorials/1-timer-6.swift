import RunLoops

let loop = RunLoop.current
var count = 0
let timer = RunLoop.Timer(.every(.milliseconds(500))) { _ in
    count += 1
    print("tick \(count)")
    if count == 3 { loop.stop() }
}
loop.add(timer, in: .default)

let observer = RunLoop.Observer([.beforeWaiting, .afterWaiting]) { _, activity in
    print(activity == .beforeWaiting ? "    The thread goes to sleep." : "    The thread is awake.")
}
loop.add(observer, in: .default)
loop.run()
print("The run has ended.")
