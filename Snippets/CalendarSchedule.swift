// Times of a day, a week and a month, by the clocks of a time zone.

import FoundationEssentials
import RunLoops
import RunLoopsCalendar

// snippet.CODE
guard let berlin = TimeZone(identifier: "Europe/Berlin") else { fatalError("no such zone") }
let morning = try CalendarSchedule.Time(hour: 9)

var nightly = CalendarSchedule.daily(at: try .init(hour: 2, minute: 30), in: berlin)
nightly.rules.missingTime = .skip
nightly.rules.clockSetBack = .again(ifBehindBy: .seconds(3 * 3600))
let backup = CalendarTimer(nightly) { timer, date in print("the backup of \(date)") }
try RunLoop.current.add(backup, in: .common)

let standUp = try CalendarSchedule.weekly(on: [.monday, .thursday], at: morning, in: berlin)
let reports = try CalendarSchedule.cron("*/15 9-17 * * mon-fri", in: berlin)
let invoices = try CalendarSchedule.monthly(on: .last, at: morning, in: berlin)
for date in standUp.dates(after: .now).prefix(3) { print("we meet at", date) }
if let date = reports.next(after: .now) { print("the next report is at", date) }
if let date = invoices.next(after: .now) { print("we send invoices at", date) }

let alarm = RunLoop.Timer(.at(.now + 0.1)) { _ in RunLoop.current.stop() }
RunLoop.current.add(alarm, in: .common)
RunLoop.current.run()
// snippet.end
