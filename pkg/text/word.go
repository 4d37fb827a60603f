package text

// Word is a word of a text: its folded form, and the bytes From to To that it takes there.
type Word struct {
	Folded   string
	From, To int
}
