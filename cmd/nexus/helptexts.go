package main

import "github.com/alecthomas/kong"

// helpTexts are the texts of help that are too long for the tag of their field. The tag names its text: ${dev_expose}.
var helpTexts = kong.Vars{
	"store_place": "Where the table is kept: the DynamoDB engine, or this process's memory",
	"dev_expose": "Let other machines reach the system, with --addr beyond loopback. Bearer tokens " +
		"then are USER.TOKEN; the token of this start is printed. /dev/ answers this machine " +
		"alone.",
	"dev_cors": "An origin whose pages may call the API from a browser, such as " +
		"http://localhost:5173; repeatable. /dev/ answers none of them.",
	"dev_limit": "Another number for a limit of each user (docs/limits.md), such as user=6000; repeatable.",
	"dev_form": "The form of sync tokens, 0 to 65535: with another one than before, every device " +
		"takes a new snapshot.",
	"dev_otlp": "An OpenTelemetry collector that gets every span as JSON over HTTP, such as http://127.0.0.1:4318. No " +
		"span has a user, a title or a key.",
	"dev_demo": "Play the story of nexus demo in the running system, as user demo, so that the console has something " +
		"to show. It moves the clock by months, and lets webhooks have addresses of this machine.",
	"dev_memory":   "Memory keeps nothing and takes no --data, --endpoint or --show-endpoint.",
	"dev_endpoint": "Another DynamoDB-compatible service in the engine's place. Time is real then.",
	"dev_private":  "Let webhooks have addresses of this machine, at any port, also without TLS.",
	"dev_show": "Let GET /dev/info tell the engine's address, for other tools. The engine answers " +
		"every page of a browser that knows it.",
	"export_all": "Everything that the user has, as a zip file. It needs --user, and --dev or --endpoint.",
	"import_all": "Put a zip file of nexus export --all into an empty account. It needs --user, and --dev or " +
		"--endpoint.",
	"import_files": "iCalendar files, of which - is standard input; with --all one zip file.",
	"account_dev":  "With --all: the local system that runs there, http://127.0.0.1:8080.",
	"account_endpoint": "With --all: the table behind a DynamoDB endpoint. Region and credentials come from " +
		"the environment.",
	"account_pepper": "The deployment's pepper, with --endpoint, once an account has left its table.",
	"account_bucket": "With --endpoint: the bucket of the cold copies.",
	"expand_tzid":    "Time zone of the start (America/New_York); without one the series floats.",
	"simulate":       "Play random histories of the whole system under faults and check every invariant.",
	"smoke": "Write to a deployment, read it back by every index, wait for what follows, and " +
		"delete it.",
	"verify": "Recount everything derived from the items, name every difference, and repair it if " +
		"asked.",
	"record_stream": "The stream of a table. Either this or --dev is needed. Credentials come from the " +
		"environment.",
	"replay_store": "Into a table of its own, empty and in this process's memory",
	"replay_time":  "which takes in each record's image and follows its time.",
	"replay_until": "Let time go on to this instant after the last record: 2026-03-02T09:00:00Z. Not " +
		"with --dev, which has a clock.",
	"replay_fixtures": "Fixtures, parked objects, failure objects from S3 or events, as they are; - reads " +
		"standard input.",
	"simulate_workers": "Histories played side by side; as many as there are processors if it is not given.",
	"smoke_api": "Where the API is: https://….execute-api.us-east-1.amazonaws.com, or " +
		"http://127.0.0.1:8080.",
	"parked_dev": "The local system that runs there: http://127.0.0.1:8080.",
	"parked_filter": "What is meant: consumer, user, a part of the reason, or the name of one object, as " +
		"NAME=TEXT; repeatable.",
	"erase_dev": "Erase inside the process that runs there, http://127.0.0.1:8080. Either this, --data or " +
		"--endpoint is needed.",
	"erase_data": "Erase in the data directory of a local system that does not run: .nexus. The system is started " +
		"for that, on a free port, and does what is due.",
	"erase_endpoint": "Erase in the table behind a DynamoDB endpoint and in the services that the other " +
		"settings name. Region and credentials come from the environment.",
	"pseudonym_account": "A user: the name h of the account that leaves or left, in ERASE#<h>, leaving/<h>, " +
		"erased/<h> and the line account erased.",
	"erase_due": "Erase all accounts whose time has come, and go on with what was left. Only with --endpoint: a local " +
		"system does so by itself.",
	"erase_again":  "Erase again whom a restore of the table brought back, by the lists in the bucket.",
	"erase_pepper": "The deployment's pepper. In the environment it shows in no list of processes.",
	"verify_pepper": "The deployment's pepper, with --endpoint: a repair needs it once an account has left. In " +
		"the environment it shows in no list of processes.",
	"verify_limits": "The limits of a stage, name=number with commas between, as its functions have them: counts " +
		"are judged by them.",
	"verify_dev": "Verify inside the process that runs there, http://127.0.0.1:8080. Either this or " +
		"--endpoint is needed.",
	"verify_endpoint": "Verify the table behind a DynamoDB endpoint: " +
		"https://dynamodb.us-east-1.amazonaws.com. Region and credentials come from the " +
		"environment.",
	"verify_grace": "Pause between the two readings of what seems to differ, longer than the stream lags, " +
		"with --endpoint",
	"verify_bucket": "Bucket of the cold copies, with --endpoint, so that they are checked.",
	"verify_group": "Schedule group, with --endpoint, so that schedules and deliveries are checked. It " +
		"needs the next four.",
	"verify_target":  "What schedules call: the notify function.",
	"verify_role":    "The role with which it is called.",
	"verify_letters": "The queue of calls that could not be made.",
	"verify_deliver": "The function deliver, which tells devices and webhooks. With it their outbox is checked.",
	"verify_bus":     "The event bus that reminders are published on.",
}
