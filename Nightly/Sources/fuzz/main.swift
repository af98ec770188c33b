// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

// Feeds one reader of this package with bytes that libFuzzer makes from a corpus, guided by the code that they reach.
//
//   fuzz READER [CORPUS] [-max_total_time=60 …]     the options are libFuzzer's
//
// Nightly/fuzz builds and runs it for each reader. A trap, a failed check or a hang ends the process, and libFuzzer leaves the bytes.

// SAFETY: int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *, size_t)), as FuzzerInterface declares it.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

guard CommandLine.argc > 1, let chosen = Reader(rawValue: CommandLine.arguments[1]) else {
    print("usage: fuzz \(Reader.allCases.map(\.rawValue).joined(separator: "|")) [corpus] [options of libFuzzer]")
    exit(2)
}
let reader = chosen
// The driver reads the arguments behind the name.
var count = CommandLine.argc - 1
var arguments = CommandLine.unsafeArgv + 1
arguments[0] = CommandLine.unsafeArgv[0]
exit(
    runDriver(&count, &arguments) { bytes, count in
        reader.read(UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    })
