// Reads calendars with ical.js. Standard input is a JSON list of {text, from, to} with instants in seconds; the answer is a
// list of {events, starts}: how many VEVENT and VTODO there are, and the starts of all occurrences in [from, to), in seconds.
// Floating times and dates are read in UTC. Whatever ical.js complains about ends it with an error.
"use strict";
const path = require("path");
const exported = require(path.resolve(process.argv[2]));
const ICAL = exported.default || exported;

function read({ text, from, to }) {
  const calendar = new ICAL.Component(ICAL.parse(text));
  for (const zone of calendar.getAllSubcomponents("vtimezone")) {
    ICAL.TimezoneService.register(new ICAL.Timezone(zone));
  }
  const instant = (time) => (time.zone === ICAL.Timezone.localTimezone || time.isDate
    ? Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second) / 1000
    : time.toUnixTime());
  const series = new Map();
  const exceptions = [];
  const components = calendar.getAllSubcomponents("vevent");
  for (const component of components) {
    const event = new ICAL.Event(component);
    if (event.isRecurrenceException()) {
      exceptions.push(event);
    } else {
      series.set(event.uid, event);
    }
  }
  for (const exception of exceptions) {
    series.get(exception.uid).relateException(exception);
  }
  const starts = [];
  for (const event of series.values()) {
    if (!event.isRecurring()) {
      starts.push(instant(event.startDate));
      continue;
    }
    const iterator = event.iterator();
    for (let next = iterator.next(), n = 0; next && n < 20000; next = iterator.next(), n++) {
      if (instant(next) > to + 86400 * 400) {
        break;
      }
      const item = event.getOccurrenceDetails(next);
      starts.push(instant(item.startDate));
    }
  }
  const todos = calendar.getAllSubcomponents("vtodo").length;
  ICAL.TimezoneService.reset();
  return { events: components.length + todos, starts: starts.filter((s) => s >= from && s < to).sort((a, b) => a - b) };
}

const chunks = [];
process.stdin.on("data", (chunk) => chunks.push(chunk));
process.stdin.on("end", () => {
  process.stdout.write(JSON.stringify(JSON.parse(Buffer.concat(chunks).toString("utf8")).map(read)));
});
