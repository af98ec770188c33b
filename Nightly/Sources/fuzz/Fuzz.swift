// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

// Feeds one reader of this package with bytes that libFuzzer makes from a corpus, guided by the code that they reach.
//
//   fuzz READER [CORPUS] [-max_total_time=60 …]     the options are libFuzzer's
//
// Nightly/fuzz builds and runs it for each reader. A trap, a failed check or a hang ends the process, and libFuzzer leaves the bytes.

// The program has the entry of libFuzzer, which calls these two functions by their names.

/// Chosen before the first input.
nonisolated(unsafe) private var reader: Reader?

/// Takes the reader's name from the arguments.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    let words = arguments.pointee
    reader = count.pointee > 1 ? words[1].flatMap { Reader(rawValue: String(cString: $0)) } : nil
    guard reader != nil else {
        print("usage: fuzz \(Reader.allCases.map(\.rawValue).joined(separator: "|")) [corpus] [options of libFuzzer]")
        exit(2)
    }
    words[1] = words[0]
    arguments.pointee += 1
    count.pointee -= 1
    return 0
}

/// Reads one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    reader?.read(UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
}
