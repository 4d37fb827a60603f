package mask_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/mask"
	"nexus/pkg/pepper"
	"nexus/pkg/pepper/peppertest"
	"nexus/pkg/register"
)

// shown returns the members of the one line that write logs.
func shown(t *testing.T, root func(slog.Handler) slog.Handler, write func(*slog.Logger)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	write(slog.New(root(slog.NewJSONHandler(&out, nil))))
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), "%s", &out)
	return line
}

func masked(t *testing.T) func(slog.Handler) slog.Handler {
	return func(next slog.Handler) slog.Handler { return mask.New(next, peppertest.Fixed(t)) }
}

func TestNew_replacesTheUsersOfKeysAndNames(t *testing.T) {
	t.Parallel()
	ann, bob := peppertest.Fixed(t).Pseudonym("ann"), peppertest.Fixed(t).Pseudonym("b-o_b")
	for text, want := range map[string]string{
		"":                             "",
		"no key":                       "no key",
		"read USER#ann/TASK#1: gone":   "read USER#" + ann + "/TASK#1: gone",
		"USER#ann#2026":                "USER#" + ann + "#2026",
		`"USER#ann/USER_META#ann"`:     `"USER#` + ann + "/USER_META#" + ann + `"`,
		"{USER#b-o_b FEED#b-o_b}":      "{USER#" + bob + " FEED#" + bob + "}",
		"U#ann#PLAN#2026-01-01: gone":  "U#" + ann + "#PLAN#2026-01-01: gone",
		"LINKED#ann#TASK#task_1":       "LINKED#" + ann + "#TASK#task_1",
		"TASK#ann":                     "TASK#ann",
		"XUSER#ann, MU#ann":            "XUSER#ann, MU#ann",
		"USER#":                        "USER#",
		"put s3://b/archive/ann/t/1":   "put s3://b/archive/" + ann + "/t/1",
		"archive/ann/":                 "archive/" + ann + "/",
		"pkg/archive/archive.go:12":    "pkg/archive/archive.go:12",
		"parked/stats/ann/task_1/3-14": "parked/stats/" + ann + "/task_1/3-14",
		"parked/links/.unreadable/1a2": "parked/links/.unreadable/1a2",
		"parked/stats/ann/.1a2/140.js": "parked/stats/" + ann + "/.1a2/140.js",
		"a/parked":                     "a/parked",
		"USER#ann and USER#b-o_b":      "USER#" + ann + " and USER#" + bob,
	} {
		line := shown(t, masked(t), func(log *slog.Logger) {
			log.With("with", text).Info(text, "text", text, "error", errors.New(text), "list", []string{text},
				slog.Group("group", slog.Any("inner", fmt.Errorf("deep: %w", errors.New(text)))),
				"object", struct{ A string }{text})
		})
		for _, got := range []any{line["msg"], line["with"], line["text"], line["error"], line["list"].([]any)[0]} {
			require.Equal(t, want, got, "%q", text)
		}
		require.Equal(t, map[string]any{"inner": "deep: " + want}, line["group"], "%q", text)
		if text != want {
			require.NotContains(t, line["object"], "#ann", "%q", text)
			require.NotContains(t, line["object"], "/ann", "%q", text)
		}
	}
}

// TestNew_knowsEveryPlaceOfTheRegister writes each key and name of the register with a user of its own.
func TestNew_knowsEveryPlaceOfTheRegister(t *testing.T) {
	t.Parallel()
	const user = "planted-user"
	var texts []string
	for _, line := range register.Lines() {
		if line.Owner == register.ByContent {
			continue // the content is never logged
		}
		shape := line.Shape
		for _, separator := range []string{"#", "/"} {
			parts := strings.Split(shape, separator)
			for i, part := range parts {
				switch part {
				case "u", "<u>":
					parts[i] = user
				}
			}
			shape = strings.Join(parts, separator)
		}
		shape = strings.NewReplacer("<", "", ">", "").Replace(shape) // the other parts of names are words, too
		texts = append(texts, strings.Replace(string(line.Place), "#u", "#"+user, 1)+" "+shape)
	}
	key := entity.LinkKey(user, entity.Ref{Type: "NOTE", ID: "n"}, entity.Ref{Type: "TASK", ID: "t"})
	texts = append(texts, entity.LinkedPK(user, entity.Ref{Type: "TASK", ID: "t"}), key.String(),
		entity.MetaKey(user).String(),
		"U#"+user+"#PLAN#2026-01-01")
	found := 0
	for _, text := range texts {
		found += strings.Count(text, user)
		line := shown(t, masked(t), func(log *slog.Logger) { log.Info("it", "text", text) })
		require.NotContains(t, line["text"], user)
	}
	require.Greater(t, found, 30)
}

func TestWith_hidesTheUsersOfTheInvocationFromAllItsLines(t *testing.T) {
	t.Parallel()
	ann, bob := peppertest.Fixed(t).Pseudonym("ann"), peppertest.Fixed(t).Pseudonym("bob")
	ctx := mask.With(t.Context())
	within := mask.With(mask.With(ctx, "ann"), "bob", "")
	for _, c := range []context.Context{ctx, within} {
		line := shown(t, masked(t), func(log *slog.Logger) {
			log.InfoContext(c, "ann", "error", errors.New("agenda of ann, annually, ann_b, b-ann: bob."),
				"at", time.Unix(0, 0).UTC(), "count", 7, "ids", []string{"ann", "x"}, "as", struct{ Of string }{"bob"})
		})
		require.Equal(t, "agenda of "+ann+", annually, ann_b, b-ann: "+bob+".", line["error"])
		require.Equal(t, []any{ann, "x"}, line["ids"])
		require.Equal(t, `{"Of":"`+bob+`"}`, line["as"])
		require.Equal(t, "ann", line["msg"], "a message is the program's own")
		require.Equal(t, []any{"1970-01-01T00:00:00Z", 7.0}, []any{line["at"], line["count"]})
	}
	line := shown(t, masked(t), func(log *slog.Logger) { log.InfoContext(t.Context(), "it", "error", "agenda of ann") })
	require.Equal(t, "agenda of ann", line["error"], "another invocation")
}

func TestUser_isThePseudonymBelowTheHandlerAlone(t *testing.T) {
	t.Parallel()
	write := func(log *slog.Logger) {
		log.Info("it", mask.User("ann"), mask.Chosen("requestId", "mine"), slog.Group("g", mask.User("ann")))
	}
	line := shown(t, masked(t), write)
	require.Equal(t, peppertest.Fixed(t).Pseudonym("ann"), line["user"])
	require.Equal(t, peppertest.Fixed(t).Chosen("mine"), line["requestId"])
	require.Equal(t, map[string]any{"user": peppertest.Fixed(t).Pseudonym("ann")}, line["g"])

	none := func(next slog.Handler) slog.Handler { return mask.New(next, pepper.Pepper{}) }
	plain := func(next slog.Handler) slog.Handler { return next }
	for _, root := range []func(slog.Handler) slog.Handler{none, plain} {
		line = shown(t, root, write)
		require.Equal(t, []any{"(user)", "(chosen)"}, []any{line["user"], line["requestId"]})
	}
	line = shown(t, mask.Clear, write)
	require.Equal(t, []any{"ann", "mine"}, []any{line["user"], line["requestId"]})
	line = shown(t, masked(t), func(log *slog.Logger) { log.Info("it", mask.User("")) })
	require.Empty(t, line["user"])
}

func TestNew_takesAnAttributeNamedUserForOne(t *testing.T) {
	t.Parallel()
	ann := peppertest.Fixed(t).Pseudonym("ann")
	line := shown(t, masked(t), func(log *slog.Logger) {
		log.Info("it", "user", "ann", slog.Group("of", "user", "ann"), "users", "ann")
	})
	require.Equal(t, []any{ann, map[string]any{"user": ann}, "ann"}, []any{line["user"], line["of"], line["users"]})
	line = shown(t, masked(t), func(log *slog.Logger) { log.With("user", "ann").Info("it") })
	require.Equal(t, ann, line["user"])
	line = shown(t, mask.Clear, func(log *slog.Logger) { log.Info("it", "user", "ann") })
	require.Equal(t, "ann", line["user"])
}

// broken is an error whose nil pointer has no text.
type broken struct{ text string }

func (b *broken) Error() string { return b.text }

func TestNew_endsNoProgramForAValueThatCannotBeShown(t *testing.T) {
	t.Parallel()
	line := shown(t, masked(t), func(log *slog.Logger) { log.Info("it", "error", (*broken)(nil), "in", make(chan int)) })
	require.Contains(t, line["error"], "!PANIC")
}

func BenchmarkNew(b *testing.B) {
	for name, root := range map[string]slog.Handler{
		"plain":  slog.NewJSONHandler(io.Discard, nil),
		"masked": mask.New(slog.NewJSONHandler(io.Discard, nil), peppertest.Fixed(b)),
	} {
		log, ctx := slog.New(root), mask.With(b.Context(), "ann")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", "GET"),
					slog.String("route", "/v1/tasks/{taskId}"), slog.String("operation", "getTask"), slog.Int("status", 200),
					slog.Int("bytes", 512), slog.Float64("milliseconds", 4.2), mask.Chosen("requestId", "client-7"),
					mask.User("ann"), slog.String("error", "read USER#ann/TASK#task_1: throttled"))
			}
		})
	}
}

func TestNew_keepsGroupsAndLevels(t *testing.T) {
	t.Parallel()
	line := shown(t, masked(t), func(log *slog.Logger) {
		log.WithGroup("outer").With(mask.User("ann")).Info("it", "key", "USER#ann")
		log.Debug("not this one")
	})
	ann := peppertest.Fixed(t).Pseudonym("ann")
	require.Equal(t, map[string]any{"user": ann, "key": "USER#" + ann}, line["outer"])
}
