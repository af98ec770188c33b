// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsXCTestHangs
import XCTest

/// Tests of which some hang, with tests before and after them.
final class FirstTests: XCTestCase {
    func test1Ends() {}
    func test2BlocksTheMainThread() { while true { pause() } }
    func test3Fails() { XCTAssertEqual(1 + 1, 3) }
    func test4WaitsForATask() async { await Task { await neverResumed() }.value }
    func test5Ends() {}

    static var allTests: [(String, (FirstTests) -> () throws -> Void)] {
        [
            ("test1Ends", test1Ends), ("test2BlocksTheMainThread", test2BlocksTheMainThread),
            ("test3Fails", test3Fails), ("test4WaitsForATask", asyncTest(test4WaitsForATask)),
            ("test5Ends", test5Ends),
        ]
    }
}

final class SecondTests: XCTestCase {
    func test1Ends() {}
    func test2Loops() {
        var steps: UInt64 = 0
        while true { steps &+= 1 }
    }

    static var allTests: [(String, (SecondTests) -> () throws -> Void)] {
        [("test1Ends", test1Ends), ("test2Loops", test2Loops)]
    }
}

func neverResumed() async {
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
}

XCTMain([testCase(FirstTests.allTests), testCase(SecondTests.allTests)])
