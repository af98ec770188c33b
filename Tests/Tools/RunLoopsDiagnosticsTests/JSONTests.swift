// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

@Suite("JSON", .ownThread)
struct JSONTests {
    private let value: JSON = [
        "a": .array([1, .decimal(-25.5), .bool(true), .bool(false), .null, "x\"\\\n\u{1}</\u{2028}\u{E9}\u{1F600}"]),
        "none": nil, "b": [:], "c": [],
    ]

    @Test func `written JSON is read back`() throws {
        #expect(try JSON(parsing: value.text) == value)
        #expect(
            value.text
                == #"{"a":[1,-25.5,true,false,null,"x\"\\\n\u0001\u003c/\u2028é😀"],"b":{},"c":[]}"#)
    }

    @Test func `JSON of other writers is read`() throws {
        let text =
            #" {"a":[1,-2.55e1,true,false,null,"x\"\\\n\u0001\u003c\/\u2028\u00e9\ud83d\uDe00"],"b":{ },"c":[ ]} "#
        #expect(try JSON(parsing: text) == value)
        #expect(try JSON(parsing: #"{"a":1,"a":2}"#)["a"] == 1)
    }

    @Test(arguments: [
        ("9223372036854775807", JSON.integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .decimal(0x1p63)),
        ("9007199254740993", .integer(9_007_199_254_740_993)),
        ("-0", .integer(0)), ("1e3", .decimal(1000)), ("0.1", .decimal(0.1)),
        ("5e-324", .decimal(.leastNonzeroMagnitude)),
        ("1e-999", .decimal(0)),
    ])
    func `integers of 64 bits are exact`(_ text: String, _ number: JSON) throws {
        #expect(try JSON(parsing: text) == number)
        #expect(try JSON(parsing: number.text) == number)
    }

    @Test(arguments: [
        (#""\ud83d""#, "\u{FFFD}"), (#""\ude00x""#, "\u{FFFD}x"), (#""\ud83d\u0041""#, "\u{FFFD}A"),
        (#""\ud83d\ud83d\ude00""#, "\u{FFFD}\u{1F600}"), (#""\ud83d\n""#, "\u{FFFD}\n"),
    ])
    func `half of a surrogate pair is replaced`(_ text: String, _ expected: String) throws {
        #expect(try JSON(parsing: text).string == expected)
    }

    @Test(arguments: [
        "", "{", "[1,]", "{\"a\"}", "01", "1 2", "nul", "\"\n\"", "\"\\x\"", "+1", ".5", "[1 2]", "1.", "1e", "-",
        "1e999",
        "-1e999", "\"\\u+123\"", "\"\\u12\"", "\"", "\"\\", "{a:1}", "{\"a\":1,}", "NaN", "Infinity", "\u{0}", "1\u{0}",
    ])
    func `invalid JSON is refused`(_ text: String) {
        #expect(throws: JSON.ReadingError.self) { try JSON(parsing: text) }
    }

    @Test func `JSON that is nested too deeply is refused`() throws {
        for opening in ["[", "{\"\":", "[{\"a\":"] {
            let text = String(repeating: opening, count: 1_000_000)
            #expect(throws: JSON.ReadingError.self) { try JSON(parsing: text) }
        }
        let deep = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        #expect(throws: Never.self) { try JSON(parsing: deep) }
        #expect(throws: JSON.ReadingError.malformed(at: 128)) { try JSON(parsing: "[" + deep + "]") }
    }

    @Test func `JSON with too many values is refused`() throws {
        let text = "[" + String(repeating: "0,", count: 99) + "0]"
        #expect(try JSON(parsing: text, most: 101).array?.count == 100)
        #expect(throws: JSON.ReadingError.tooManyValues) { try JSON(parsing: text, most: 100) }
    }
}
