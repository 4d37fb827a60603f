package search_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"nexus/pkg/search"
	"nexus/pkg/text/words"
)

// languages are words by which the index is compared with SQLite's FTS5. Both define these words alike.
var languages = map[string]string{
	"Arabic":     "كتاب مدرسة اجتماع قهوة سفر طبيب غدا موعد هاتف بيت عمل شمس بحر قمر",
	"Czech":      "schůzka zubař příští týden káva žluťoučký kůň úpěl ďábelské ódy zpráva účet",
	"English":    "meeting dentist coffee Monday report invoice garden holiday Budget plan call review note",
	"French":     "réunion dentiste café élève forêt garçon été naïve Noël où déjà reçu dîner facture",
	"German":     "Besprechung Zahnarzt Kaffee Müll schön Übung grün Äpfel früh Bürger Termin Rechnung",
	"Greek":      "συναντηση γιατρος καφες σπιτι ΔΕΥΤΕΡΑ λογος φως θαλασσα ημερα βιβλιο",
	"Hebrew":     "פגישה רופא קפה בית ספר מחר עבודה שמש ירח מכתב טלפון חג",
	"Korean":     "회의 치과 커피 월요일 보고서 정원 휴가 예산 계획 전화 검토 메모 회의실",
	"Polish":     "spotkanie dentysta kawa środa żółty łódka gęś ćma źródło Łódź rachunek",
	"Portuguese": "reunião dentista café amanhã avó maçã coração três pão relatório férias",
	"Russian":    "встреча врач кофе среда отчет дача Отпуск план звонок заметка год вода",
	"Spanish":    "reunión dentista mañana niño pingüino árbol útil corazón Año informe jardín",
	"Swedish":    "möte tandläkare kaffe måndag ärende Örebro åka själv räkning semester",
	"Turkish":    "toplantı dişçi kahve çarşamba güneş öğle yağmur şeker rapor bütçe Ankara",
	"Vietnamese": "họp nha sĩ cà phê thứ hai báo cáo vườn nghỉ lễ ngân sách kế hoạch gọi điện",
}

// fts5 is a table of SQLite with the same documents.
type fts5 struct{ *sql.DB }

func openFTS5(t *testing.T) fts5 {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	f := fts5{db}
	f.run(t, `CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, title, body, tokenize="unicode61 remove_diacritics 2")`)
	f.run(t, `CREATE VIRTUAL TABLE tokens USING fts5vocab(docs, instance)`)
	return f
}

func (f fts5) run(t *testing.T, statement string, args ...any) {
	t.Helper()
	_, err := f.ExecContext(t.Context(), statement, args...)
	require.NoError(t, err, statement)
}

func (f fts5) texts(t *testing.T, query string, args ...any) []string {
	t.Helper()
	rows, err := f.QueryContext(t.Context(), query, args...)
	require.NoError(t, err, "%s %v", query, args)
	defer func() { require.NoError(t, rows.Close()) }()
	out := []string{}
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		out = append(out, text)
	}
	require.NoError(t, rows.Err())
	return out
}

// words returns the words that FTS5 makes of a text.
func (f fts5) words(t *testing.T, text string) []string {
	t.Helper()
	f.run(t, `DELETE FROM docs`)
	f.run(t, `INSERT INTO docs (id, title, body) VALUES ('', '', ?)`, text)
	return f.texts(t, `SELECT term FROM tokens ORDER BY "offset"`)
}

func ours(text string) []string {
	out := []string{}
	for _, w := range words.Split(text) {
		out = append(out, w.Folded)
	}
	return out
}

// TestIndex_matchesAsFTS5 compares the sets of matches for random texts and queries in each language.
func TestIndex_matchesAsFTS5(t *testing.T) {
	t.Parallel()
	require.Len(t, languages, 15)
	for name, list := range languages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := openFTS5(t)
			require.Equal(t, f.words(t, list), ours(list), "both define these words alike")
			f.run(t, `DELETE FROM docs`)
			random := rand.New(rand.NewPCG(1, uint64(len(list))))
			vocabulary := strings.Fields(list)
			x := search.New(words.Split)
			for i := range 120 {
				id, title, body := fmt.Sprintf("%03d", i), some(random, vocabulary, 1, 4), some(random, vocabulary, 0, 12)
				f.run(t, `INSERT INTO docs VALUES (?, ?, ?)`, id, title, body)
				x.Put(search.Document{
					Ref: search.Ref{Type: "NOTE", ID: id}, Texts: []search.Text{{"title", title}, {"body", body}},
				})
			}
			found := 0
			for range 150 {
				q, expression := randomQuery(random, vocabulary)
				parsed, err := search.Parse(q, words.Split)
				require.NoError(t, err)
				hits := x.Find(search.Question{Query: parsed, Now: time.Unix(0, 0), Limit: 1000, Sort: search.ByRank}).Hits
				ids := []string{}
				for _, h := range hits {
					ids = append(ids, h.ID)
				}
				slices.Sort(ids)
				require.Equal(t, f.texts(t, `SELECT id FROM docs WHERE docs MATCH ? ORDER BY id`, expression), ids, q)
				found += len(ids)
			}
			require.Greater(t, found, 500, "of 150 queries")
		})
	}
}

// some returns a text of words, with spaces or signs between them.
func some(random *rand.Rand, vocabulary []string, least, most int) string {
	var b strings.Builder
	for range least + random.IntN(most-least+1) {
		b.WriteString(vocabulary[random.IntN(len(vocabulary))])
		b.WriteString([]string{" ", ", ", " – ", "-", ".\n", "! "}[random.IntN(6)])
	}
	return b.String()
}

// randomQuery returns a query and the expression of FTS5 that says the same.
func randomQuery(random *rand.Rand, vocabulary []string) (q, expression string) {
	word := func() string { return vocabulary[random.IntN(len(vocabulary))] }
	var parts, must, not []string
	for range random.IntN(2) {
		a, b := word(), word()
		parts, must = append(parts, `"`+a+" "+b+`"`), append(must, `"`+a+" "+b+`"`)
	}
	for range random.IntN(2) {
		w := word()
		parts, not = append(parts, "-"+w), append(not, `"`+w+`"`)
	}
	for range random.IntN(2) {
		w := word()
		parts, must = append(parts, w), append(must, `"`+w+`"`)
	}
	last := []rune(word())
	last = last[:1+random.IntN(len(last))] // exactly, as a beginning
	parts, must = append(parts, string(last)), append(must, `"`+string(last)+`" *`)
	expression = strings.Join(must, " AND ")
	for _, w := range not {
		expression += " NOT " + w
	}
	return strings.Join(parts, " "), expression
}

// TestIndex_definesWordsOtherwise lists where a word is not what FTS5's unicode61 takes it for.
func TestIndex_definesWordsOtherwise(t *testing.T) {
	t.Parallel()
	f := openFTS5(t)
	for _, c := range []struct {
		why, text   string
		ours, fts5s []string
	}{
		{"an apostrophe inside a word belongs to it", "can't", []string{"can't"}, []string{"can", "t"}},
		{"an underscore joins", "foo_bar", []string{"foo_bar"}, []string{"foo", "bar"}},
		{"a point or a comma between digits joins", "3.14 1,000",
			[]string{"3.14", "1,000"}, []string{"3", "14", "1", "000"}},
		{"a point between letters joins", "example.com", []string{"example.com"}, []string{"example", "com"}},
		{"a colon between letters joins, as in Swedish", "k:a", []string{"k:a"}, []string{"k", "a"}},
		{"an ideograph is a word", "東京都", []string{"東", "京", "都"}, []string{"東京都"}},
		{"hiragana are words, each by itself; katakana are one word", "ひと カタカナ",
			[]string{"ひ", "と", "カタカナ"}, []string{"ひと", "カタカナ"}},
		{"without a dictionary each character of Thai is a word", "สวัสดี",
			[]string{"ส", "ว", "ส", "ด"}, []string{"สว", "สด"}},
		{"marks of Devanagari are left out and divide no word", "नमस्ते", []string{"नमसत"}, []string{"नमस", "त"}},
		{"marks of Hebrew are left out and divide no word", "שָׁלוֹם", []string{"שלום"}, []string{"ש", "לו", "ם"}},
		{"marks of Arabic are left out and divide no word", "كِتَاب", []string{"كتاب"}, []string{"ك", "ت", "اب"}},
		{"marks of Cyrillic are left out", "й ё", []string{"и", "е"}, []string{"й", "ё"}},
		{"marks of Greek are left out", "έξω", []string{"εξω"}, []string{"έξω"}},
		{"marks of kana are left out", "ガ", []string{"カ"}, []string{"ガ"}},
		{"case is folded in full", "Straße", []string{"strasse"}, []string{"straße"}},
		{"a ligature is its letters", "ﬁn ǆ", []string{"fin", "dz"}, []string{"ﬁn", "ǆ"}},
		{"a wide letter is the usual one", "Ｗｉｄｅ", []string{"wide"}, []string{"ｗｉｄｅ"}},
		{"a raised digit is a word, and the digit", "m²", []string{"m", "2"}, []string{"m²"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			require.Equal(t, c.ours, ours(c.text))
			require.Equal(t, c.fts5s, f.words(t, c.text))
		})
	}
}
