package search_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/search"
	"nexus/pkg/text/words"
)

// indexOf returns an index of notes; of each the title and, behind a bar, the body. The title is the id.
func indexOf(notes ...string) *search.Index {
	x := search.New(words.Split)
	for i, note := range notes {
		title, body, _ := strings.Cut(note, "|")
		x.Put(search.Document{
			Ref: search.Ref{Type: "NOTE", ID: title}, Updated: noon.AddDate(0, 0, i),
			Texts: []search.Text{{"title", title}, {"body", body}},
		})
	}
	return x
}

// titles returns those of what a query finds, in their order.
func titles(t *testing.T, x *search.Index, query string) []string {
	t.Helper()
	q, err := search.Parse(query, words.Split)
	require.NoError(t, err)
	found := x.Find(search.Question{Query: q, Now: noon, Sort: search.ByRank, Limit: 100})
	require.Equal(t, found.Total, len(found.Hits))
	out := []string{}
	for _, h := range found.Hits {
		out = append(out, h.Title)
	}
	return out
}

// TestIndex_ranks pins the order of what queries find.
func TestIndex_ranks(t *testing.T) {
	t.Parallel()
	x := indexOf(
		"Garden plan|Beds, paths and the budget for spring",
		"Budget|Rent, food, garden",
		"Budget review with Anna|The budget of the year, and the garden",
		"Dentist|Call before Monday. Café next door, e-mail the form",
		"Dentist appointment|can't before ten",
		"Résumé|Send it to the company in 東京都 by e-mail",
		"Meeting notes|garden garden garden garden and much else that was said, in many words that count for nothing",
		"Gardening gloves|",
	)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"budget", []string{"Budget", "Budget review with Anna", "Garden plan"}},
		{"BUDGET", []string{"Budget", "Budget review with Anna", "Garden plan"}},
		{"budg", []string{"Budget", "Budget review with Anna", "Garden plan"}},
		{"budget anna", []string{"Budget review with Anna"}},
		{"anna budget", []string{"Budget review with Anna"}},
		{"budget -anna", []string{"Budget", "Garden plan"}},
		{"budget -", []string{"Budget", "Budget review with Anna", "Garden plan"}},
		{`"garden plan"`, []string{"Garden plan"}},
		{`"plan garden"`, []string{}},
		{`"plan beds"`, []string{}}, // no phrase goes from one text into another
		{`"garden`, []string{"Garden plan", "Meeting notes", "Budget", "Budget review with Anna"}},
		{"garden", []string{"Garden plan", "Meeting notes", "Budget", "Budget review with Anna", "Gardening gloves"}},
		{"gardening", []string{"Gardening gloves"}},
		{"dentist", []string{"Dentist appointment", "Dentist"}},
		{"dentits", []string{"Dentist appointment", "Dentist"}},
		{"dntist call", []string{"Dentist"}},
		{"dentisst", []string{"Dentist appointment", "Dentist"}},
		{"dendist", []string{"Dentist appointment", "Dentist"}},
		{"dendisd", []string{}},
		{`"dendist"`, []string{}}, // a phrase is taken as it is written
		{"anma", []string{}},      // four characters
		{"-dendist budget -rent", []string{"Budget review with Anna", "Garden plan"}},
		{"cafe", []string{"Dentist"}},
		{"resume", []string{"Résumé"}},
		{"RÉSUMÉ", []string{"Résumé"}},
		{"e-mail", []string{"Dentist", "Résumé"}},
		{"mail", []string{"Dentist", "Résumé"}},
		{"e-form", []string{}},
		{"東京", []string{"Résumé"}},
		{"京東", []string{}},
		{"can't", []string{"Dentist appointment"}},
		{"call monday", []string{"Dentist"}},
		{`call"before monday"`, []string{"Dentist"}},
		{"-garden -dentist", []string{"Gardening gloves", "Résumé"}},
		{"...", []string{
			"Gardening gloves", "Meeting notes", "Résumé", "Dentist appointment", "Dentist", "Budget review with Anna", "Budget",
			"Garden plan",
		}},
	} {
		require.Equal(t, c.want, titles(t, x, c.query), "%s", c.query)
	}
}

func TestParse_boundsWords(t *testing.T) {
	t.Parallel()
	_, err := search.Parse(strings.Repeat("word ", search.MaxWords), words.Split)
	require.NoError(t, err)
	_, err = search.Parse(strings.Repeat("word ", search.MaxWords)+"-other", words.Split)
	require.ErrorIs(t, err, search.ErrWords)
	_, err = search.Parse(`"`+strings.Repeat("word ", search.MaxWords+1)+`"`, words.Split)
	require.ErrorIs(t, err, search.ErrWords)
	q, err := search.Parse(" - ... ", words.Split)
	require.NoError(t, err)
	require.True(t, q.IsEmpty())
}

func TestIndex_showsSnippets(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("words without end ", 40)
	x := indexOf("Zürich|" + long + "the train to Zürich leaves at ten, " + long)
	q, err := search.Parse("zurich train", words.Split)
	require.NoError(t, err)
	hits := x.Find(search.Question{Query: q, Now: noon, Sort: search.ByRank, Limit: 1}).Hits
	require.Len(t, hits, 1)
	require.Len(t, hits[0].Snippets, 2)
	title, body := hits[0].Snippets[0], hits[0].Snippets[1]
	require.Equal(t, search.Snippet{Field: "title", Text: "Zürich", Marks: []search.Mark{{0, 6}}}, title)
	require.True(t, body.Before && body.After)
	require.Less(t, len(body.Text), 300)
	var marked []string
	for _, m := range body.Marks {
		marked = append(marked, string([]rune(body.Text)[m.From:m.To]))
	}
	require.Equal(t, []string{"train", "Zürich"}, marked)
	phrase, err := search.Parse(`"train to zurich"`, words.Split)
	require.NoError(t, err)
	found := x.Find(search.Question{Query: phrase, Now: noon, Sort: search.ByRank, Limit: 1}).Hits
	require.Len(t, found[0].Snippets[0].Marks, 3, "each word of a phrase")
}

func TestIndex_cutsSnippetsBetweenCharacters(t *testing.T) {
	t.Parallel()
	x := indexOf("One|" + strings.Repeat("ü", 5000) + " found " + strings.Repeat("東京", 500))
	q, err := search.Parse("found", words.Split)
	require.NoError(t, err)
	hits := x.Find(search.Question{Query: q, Now: noon, Sort: search.ByRank, Limit: 1}).Hits
	require.Len(t, hits, 1)
	s := hits[0].Snippets[0]
	require.Equal(t, "found", string([]rune(s.Text)[s.Marks[0].From:s.Marks[0].To]))
	require.LessOrEqual(t, len(s.Text), 600)
	require.True(t, strings.HasPrefix(s.Text, "found"))
}
