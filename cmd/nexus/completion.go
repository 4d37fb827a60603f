package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand is nexus completion.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

// Run prints the script. It is made from the commands themselves, so that it contains each of them and each flag.
func (c *completionCommand) Run(app *kong.Kong, out outputs) error {
	var script strings.Builder
	switch c.Shell {
	case "fish":
		fishCompletion(&script, app.Model)
	case "zsh":
		script.WriteString("autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n")
		bashCompletion(&script, app.Model)
	default:
		bashCompletion(&script, app.Model)
	}
	_, err := io.WriteString(out.results, script.String())
	return err
}

// flagsOf returns the command's flags, with those that every command has.
func flagsOf(app *kong.Application, command *kong.Node) []*kong.Flag {
	var out []*kong.Flag
	for _, f := range append(append([]*kong.Flag(nil), app.Flags...), command.Flags...) {
		if !f.Hidden {
			out = append(out, f)
		}
	}
	return out
}

// valuesOf returns the possible values of a flag or an argument, if they are few.
func valuesOf(v *kong.Value) string {
	if v.Enum == "" {
		return ""
	}
	return strings.ReplaceAll(v.Enum, ",", " ")
}

// bashCompletion writes a function for bash's complete, which zsh's bashcompinit supports as well.
func bashCompletion(w io.Writer, app *kong.Application) {
	var names []string
	for _, command := range app.Children {
		names = append(names, command.Name)
	}
	fmt.Fprintf(w, `_nexus() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W %q -- "$cur") )
    return
  fi
  case "${COMP_WORDS[1]} $prev" in
`, strings.Join(names, " ")+" --help --version")
	for _, command := range app.Children {
		for _, f := range flagsOf(app, command) {
			if values := valuesOf(f.Value); values != "" {
				fmt.Fprintf(w, "    %q) words=%q ;;\n", command.Name+" --"+f.Name, values)
			}
		}
		for _, p := range command.Positional {
			if values := valuesOf(p); values != "" {
				fmt.Fprintf(w, "    %q) words=%q ;;\n", command.Name+" "+command.Name, values)
			}
		}
	}
	fmt.Fprint(w, "  esac\n  case \"$cur\" in -*) case \"${COMP_WORDS[1]}\" in\n")
	for _, command := range app.Children {
		var flags []string
		for _, f := range flagsOf(app, command) {
			flags = append(flags, "--"+f.Name)
		}
		fmt.Fprintf(w, "    %s) words=%q ;;\n", command.Name, strings.Join(flags, " "))
	}
	fmt.Fprint(w, `  esac ;; esac
  if [ -n "$words" ]; then
    COMPREPLY=( $(compgen -W "$words" -- "$cur") )
  else
    COMPREPLY=( $(compgen -f -- "$cur") )
  fi
}
complete -o filenames -F _nexus nexus
`)
}

// fishCompletion writes a line for each command and flag.
func fishCompletion(w io.Writer, app *kong.Application) {
	quoted := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }
	fmt.Fprint(w, "complete -c nexus -f -n __fish_use_subcommand -l version -d 'Print the version and quit.'\n")
	for _, command := range app.Children {
		fmt.Fprintf(w, "complete -c nexus -f -n __fish_use_subcommand -a %s -d %s\n", command.Name, quoted(command.Help))
		for _, f := range flagsOf(app, command) {
			fmt.Fprintf(w, "complete -c nexus -n '__fish_seen_subcommand_from %s' -l %s -d %s", command.Name, f.Name,
				quoted(f.Help))
			switch values := valuesOf(f.Value); {
			case values != "":
				fmt.Fprintf(w, " -x -a %s", quoted(values))
			case !f.IsBool():
				fmt.Fprint(w, " -r")
			}
			fmt.Fprintln(w)
		}
		for _, p := range command.Positional {
			if values := valuesOf(p); values != "" {
				fmt.Fprintf(w, "complete -c nexus -f -n '__fish_seen_subcommand_from %s' -a %s\n", command.Name, quoted(values))
			}
		}
	}
}
