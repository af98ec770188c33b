// What ports cost, beside a bare socket pair, all in one run: `swift run -c release PortsMeasured`.

import Dispatch
import Glibc
import RunLoops
import RunLoopsPorts

let trips = 20_000

/// This program again, as another process, with `descriptor` as its standard input.
func startSelf(_ arguments: [String], _ descriptor: CInt) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, descriptor, 0)
    var words: [UnsafeMutablePointer<CChar>?] = (["measured"] + arguments).map { strdup($0) }
    words.append(nil)
    var process = pid_t()
    let result = posix_spawn(&process, "/proc/self/exe", &actions, nil, words, environ())
    precondition(result == 0, "posix_spawn: \(result)")
    return process
}

/// The environment as it is; Swift refuses to touch the C variable itself.
func environ() -> [UnsafeMutablePointer<CChar>?] {
    var variables: [UnsafeMutablePointer<CChar>?] = []
    for name in ["XDG_RUNTIME_DIR", "LD_LIBRARY_PATH"] {
        if let value = getenv(name) { variables.append(strdup("\(name)=\(String(cString: value))")) }
    }
    return variables + [nil]
}

func bareTrip(_ descriptor: CInt, _ byte: inout UInt8) -> Bool {
    write(descriptor, &byte, 1) == 1 && read(descriptor, &byte, 1) == 1
}

func measure(_ body: () throws -> Void) rethrows -> Double {
    let start = RunLoop.Instant.now
    try body()
    let time = RunLoop.Instant.now - start
    return time / .nanoseconds(1)
}

func show(_ what: String, _ nanoseconds: Double, against bare: Double? = nil) {
    let ratio = bare.map { ", \(Double(Int(nanoseconds / $0 * 100)) / 100) times the bare pair" } ?? ""
    print("\(what): \(Int(nanoseconds)) ns\(ratio)")
}

switch CommandLine.arguments.dropFirst().first {
case "bare":
    var byte: UInt8 = 0
    while read(0, &byte, 1) == 1 { write(0, &byte, 1) }
    exit(0)
case "port":
    let port = RunLoop.MessagePort { message in
        if message.id == -1 { RunLoop.main.stop() }
        return message.replyTo == nil ? nil : RunLoop.MessagePort.Message(id: message.id, bytes: message.bytes)
    }
    try RunLoop.main.add(port, in: .default)
    try port.publish(as: "measured-\(getppid())")
    var byte: UInt8 = 0
    write(0, &byte, 1)
    RunLoop.main.run(in: .default, until: nil)
    port.invalidate()
    exit(0)
default: break
}

var ends: [CInt] = [-1, -1]
precondition(socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
var byte: UInt8 = 1
let bareProcess = startSelf(["bare"], ends[1])
_ = bareTrip(ends[0], &byte)
let bare = measure { for _ in 0..<trips { _ = bareTrip(ends[0], &byte) } } / Double(trips)
kill(bareProcess, SIGKILL)
waitpid(bareProcess, nil, 0)
show("round trip, bare socket pair between processes", bare)

let portProcess = startSelf(["port"], ends[1])
precondition(read(ends[0], &byte, 1) == 1)
let far = try RunLoop.MessagePort.Sender(named: "measured-\(getpid())")
_ = try far.request(RunLoop.MessagePort.Message(bytes: [1]))
let farTrip =
    try measure { for _ in 0..<trips { _ = try far.request(RunLoop.MessagePort.Message(bytes: [1])) } } / Double(trips)
show("round trip, ports between processes", farTrip, against: bare)
let many: Int32 = 100_000
let farTime = try measure {
    for id in 0..<many { try far.send(RunLoop.MessagePort.Message(id: id, bytes: [1])) }
    _ = try far.request(RunLoop.MessagePort.Message(id: -1))
}
show("message between processes, \(many) of them", farTime / Double(many))
waitpid(portProcess, nil, 0)

// A thread whose loop serves a port until the program ends.
let nearPort = RunLoop.MessagePort.sendable { message in
    message.replyTo == nil ? nil : RunLoop.MessagePort.Message(id: message.id, bytes: message.bytes)
}
DispatchQueue.global().async {
    do { try RunLoop.current.add(nearPort, in: .default) } catch { fatalError("\(error)") }
    RunLoop.current.run(in: .default, until: nil)
}
let near = nearPort.sender
_ = try near.request(RunLoop.MessagePort.Message(bytes: [1]))
let nearTrip =
    try measure { for _ in 0..<trips { _ = try near.request(RunLoop.MessagePort.Message(bytes: [1])) } } / Double(trips)
show("round trip, ports between threads", nearTrip, against: bare)
let nearMany: Int32 = 1_000_000
let bytes: [UInt8] = [1]
let nearTime = try measure {
    for id in 0..<nearMany { try near.send(RunLoop.MessagePort.Message(id: id, bytes: bytes)) }
    _ = try near.request(RunLoop.MessagePort.Message())
}
show("message between threads, \(nearMany) of them", nearTime / Double(nearMany))
