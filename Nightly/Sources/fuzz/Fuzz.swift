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

/// The sanitizer's option makes a program without code at its top level.
@main enum Fuzz {
    private static let reader = CommandLine.arguments.dropFirst().first.flatMap(Reader.init)

    static func main() {
        guard reader != nil else {
            let names = Reader.allCases.map(\.rawValue).joined(separator: "|")
            print("usage: fuzz \(names) [corpus] [options of libFuzzer]")
            exit(2)
        }
        // The driver reads the arguments behind the name.
        var count = CommandLine.argc - 1
        var arguments = CommandLine.unsafeArgv + 1
        arguments[0] = CommandLine.unsafeArgv[0]
        exit(
            runDriver(&count, &arguments) { bytes, count in
                Fuzz.reader?.read(UnsafeRawBufferPointer(start: bytes, count: count))
                return 0
            })
    }
}
