// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Numbers from 0 to 63.
struct NumberSet: Hashable {
    private(set) var bits: UInt64 = 0

    init() {}
    init(_ number: Int) { insert(number) }

    mutating func insert(_ number: Int) { bits |= 1 << number }
    func contains(_ number: Int) -> Bool { bits & 1 << number != 0 }

    /// The first that is at least `number`.
    func first(from number: Int) -> Int? {
        let rest = bits >> number
        return rest == 0 ? nil : number + rest.trailingZeroBitCount
    }

    /// The last that is at most `number`.
    func last(to number: Int) -> Int? {
        let rest = bits << (63 - number)
        return rest == 0 ? nil : number - rest.leadingZeroBitCount
    }
}

/// The times of a day, as seconds since its beginning: each of these minutes of each of these hours.
struct DayTimes: Hashable {
    let hours: NumberSet
    let minutes: NumberSet
    var second = 0

    /// The first time that is at least `time`, which is 0 to 86,400.
    func first(from time: Int) -> Int? {
        let minute = (time - second + 59) / 60
        for hour in minute / 60..<24 where hours.contains(hour) {
            if let found = minutes.first(from: hour == minute / 60 ? minute % 60 : 0) {
                return (hour * 60 + found) * 60 + second
            }
        }
        return nil
    }

    /// The last time that is at most `time`, which is less than 86,400.
    func last(to time: Int) -> Int? {
        guard time >= second else { return nil }
        let minute = (time - second) / 60
        for hour in (0...minute / 60).reversed() where hours.contains(hour) {
            if let found = minutes.last(to: hour == minute / 60 ? minute % 60 : 59) {
                return (hour * 60 + found) * 60 + second
            }
        }
        return nil
    }
}
