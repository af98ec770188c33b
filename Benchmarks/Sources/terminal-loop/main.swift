// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The same with the loop alone: what of LoopUI's time is the loop's, and the formatting's, in
// Benchmarks/Terminals/measure.

internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

func put(_ text: String) {
    var text = text
    _ = text.withUTF8 { write(1, $0.baseAddress, $0.count) }
}

var old = termios()
tcgetattr(0, &old)
var raw = old
cfmakeraw(&raw)
tcsetattr(0, TCSANOW, &raw)
put("\u{1B}[?1049h\u{1B}[2Jkeys: 0\r\n")
var count = 0
let source = RunLoop.DescriptorSource(0, for: .readable, closes: false, label: "keys") { _, _ in
    var key: UInt8 = 0
    guard read(0, &key, 1) == 1, key != UInt8(ascii: "q") else { return RunLoop.current.stop() }
    count += 1
    put("\u{1B}[1;1Hkeys: \(count), the last: \(Character(Unicode.Scalar(key)))")
}
try RunLoop.current.add(source, in: .default)
RunLoop.current.run()
put("\u{1B}[?1049l")
tcsetattr(0, TCSANOW, &old)
