// Reads VTIMEZONEs with ical.js. Standard input is cases, one after the other: a line "<bytes> <readings>", a calendar of so
// many bytes, and so many lines with a reading, as seconds of a clock that shows UTC. The answer has a line for each reading:
// the instant, in seconds, at which the clocks of the calendar's first VTIMEZONE show it.
"use strict";
const fs = require("fs");
const path = require("path");
const exported = require(path.resolve(process.argv[2]));
const ICAL = exported.default || exported;

const input = fs.readFileSync(0);
let at = 0;
function line() {
  const end = input.indexOf(10, at);
  const text = input.toString("utf8", at, end);
  at = end + 1;
  return text;
}

while (at < input.length) {
  const [bytes, readings] = line().split(" ").map(Number);
  const calendar = new ICAL.Component(ICAL.parse(input.toString("utf8", at, at + bytes)));
  at += bytes;
  const zone = new ICAL.Timezone(calendar.getFirstSubcomponent("vtimezone"));
  const answers = [];
  for (let i = 0; i < readings; i++) {
    const seconds = Number(line());
    const day = new Date(seconds * 1000);
    const time = new ICAL.Time({
      year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate(),
      hour: day.getUTCHours(), minute: day.getUTCMinutes(), second: day.getUTCSeconds(),
    }, zone);
    answers.push(seconds - zone.utcOffset(time));
  }
  process.stdout.write(answers.join("\n") + "\n");
}
