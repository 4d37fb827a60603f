package main

import (
	"strings"

	"nexus/pkg/deploy/env"
)

// examples appends command lines to a command's description, in the form in which kong shows text unchanged.
func examples(description string, lines ...string) string {
	text := "Examples:\n\n    " + strings.Join(lines, "\n    ")
	if description == "" {
		return text
	}
	return description + "\n\n" + text
}

// Help shows how the command is used.
func (*devCommand) Help() string {
	return examples("Locally a bearer token is a user's id: each id is a user, and everybody on this machine is believed.",
		"nexus dev",
		"nexus dev --addr 127.0.0.1:0 --ephemeral",
		"nexus dev --addr 0.0.0.0:8080 --expose --allow-host 192.168.1.5",
		"curl -H 'Authorization: Bearer ann' http://127.0.0.1:8080/v1/me",
	)
}

// Help shows how the command is used.
func (*demoCommand) Help() string {
	return examples("", "nexus demo", "nexus demo --store memory --json")
}

// Help shows how the command is used.
func (*simulateCommand) Help() string {
	return examples("", "nexus simulate --seeds 10000", "nexus simulate --seeds 1 --from 77 --trace")
}

// Help shows how the command is used.
func (*costCommand) Help() string {
	return examples("", "nexus cost", "nexus cost --show-prices > prices.json",
		"nexus cost --prices prices.json --scale 0.1")
}

// Help shows how the command is used.
func (*capacityCommand) Help() string {
	return examples("", "nexus capacity --users 100000", "nexus capacity --users 1000000 --peak 10 --settings stage.json")
}

// Help shows how the command is used.
func (*replayCommand) Help() string {
	return examples("", "nexus replay stream.ndjson",
		"nexus replay --consumer stats,links --dev http://127.0.0.1:8080 parked.json")
}

// Help shows how the command is used.
func (*expandCommand) Help() string {
	return examples("",
		"nexus expand --dtstart 20250303T090000 --tzid Europe/Paris --rrule 'FREQ=WEEKLY;BYDAY=MO,WE' --limit 5")
}

// Help describes the source of the token, and shows how the command is used.
func (*importCommand) Help() string {
	return examples("The bearer token comes from "+tokenVariable+"; on this machine --user does. "+
		"With --all, one zip file of nexus export --all goes into an account that has nothing but settings. "+
		"If that is interrupted, the same command goes on.",
		"nexus import --url http://127.0.0.1:8080 --user ann work.ics home.ics",
		tokenVariable+"=$(cat token) nexus import --url https://nexus.example work.ics",
		"nexus import --all --dev http://127.0.0.1:8080 --user ann account.zip",
	)
}

// Help describes the source of the token, and shows how the command is used.
func (*exportCommand) Help() string {
	return examples("The bearer token comes from "+tokenVariable+"; on this machine --user does. "+
		"With --all, a zip file has everything that the user has (docs/privacy.md).",
		"nexus export --url http://127.0.0.1:8080 --user ann --out ann.ics",
		tokenVariable+"=$(cat token) nexus export --url https://nexus.example > calendar.ics",
		"nexus export --all --dev http://127.0.0.1:8080 --user ann --out account.zip",
	)
}

// Help says where the pepper comes from, and shows how the command is used.
func (*pseudonymCommand) Help() string {
	return examples("The deployment's pepper comes from "+env.Pepper+"; that of a local system from its data directory.",
		"nexus pseudonym --data .nexus --user ann",
		"nexus pseudonym --data .nexus --account ann",
		env.Pepper+`="$(aws ssm get-parameter --name `+env.PepperParameter+` --query Parameter.Value --output text)" \
      nexus pseudonym --user ann`,
	)
}

// Help shows how the command is used.
func (*completionCommand) Help() string {
	return examples("Prints a script for the shell.",
		`bash:  source <(nexus completion bash)`,
		`zsh:   source <(nexus completion zsh)`,
		`fish:  nexus completion fish > ~/.config/fish/completions/nexus.fish`,
	)
}
