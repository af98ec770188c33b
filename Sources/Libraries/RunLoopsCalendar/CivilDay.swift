// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A day of the Gregorian calendar, as the number of days since 1 January 1970.
///
/// The arithmetic is Howard Hinnant's: years begin in March, so that the leap day comes last.
struct CivilDay: Hashable {
    let number: Int

    /// The year, the month (1 to 12) and the day of the month (1 to 31).
    var parts: (year: Int, month: Int, day: Int) {
        // Days since 1 March of the year 0, in eras of 400 years.
        let days = number + 719_468
        let era = days.flooredQuotient(by: 146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    var weekday: CalendarSchedule.Weekday {
        // 1 January 1970 was a Thursday, which has the number 4.
        let index = number + 3
        return CalendarSchedule.Weekday(rawValue: index - index.flooredQuotient(by: 7) * 7 + 1)!
    }

    /// Whether the next day is the first of a month.
    var isLastOfMonth: Bool { CivilDay(number: number + 1).parts.day == 1 }
}

extension BinaryInteger {
    /// The quotient, rounded down: -1 / 60 is -1.
    func flooredQuotient(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
