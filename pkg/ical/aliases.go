package ical

// zoneAliases are further names of zones, in lower case: short names of the zone database, which name no place, with
// the zones that its file "backward" links them to, and names that programs write for UTC.
var zoneAliases = map[string]string{
	"utc": "UTC", "z": "UTC", "gmt": "UTC", "uct": "UTC", "zulu": "UTC", "coordinated universal time": "UTC",
	"greenwich": "UTC", "universal": "UTC", "etc/utc": "UTC", "etc/gmt": "UTC", "tzone://microsoft/utc": "UTC",
	"cet": "Europe/Brussels", "met": "Europe/Brussels", "eet": "Europe/Athens", "wet": "Europe/Lisbon",
	"est": "America/Panama", "mst": "America/Phoenix", "hst": "Pacific/Honolulu",
	"est5edt": "America/New_York", "cst6cdt": "America/Chicago", "mst7mdt": "America/Denver",
	"pst8pdt": "America/Los_Angeles", "gb": "Europe/London", "gb-eire": "Europe/London", "nz": "Pacific/Auckland",
	"nz-chat": "Pacific/Chatham", "prc": "Asia/Shanghai", "roc": "Asia/Taipei", "rok": "Asia/Seoul",
}

// preferredZones are tried first when the rules of several zones match a VTIMEZONE. Of equal zones, the most populous
// is preferred.
var preferredZones = []string{
	"America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Phoenix", "America/Sao_Paulo",
	"Europe/London", "Europe/Berlin", "Europe/Athens", "Europe/Moscow", "Europe/Istanbul", "Africa/Lagos", "Africa/Cairo",
	"Africa/Johannesburg", "Asia/Kolkata", "Asia/Shanghai", "Asia/Tokyo", "Asia/Jakarta", "Asia/Karachi", "Asia/Dhaka",
	"Australia/Sydney", "Australia/Brisbane", "Pacific/Auckland",
}
