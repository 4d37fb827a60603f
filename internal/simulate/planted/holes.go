package planted

// ofHoles are mistakes that neither the tests nor the simulation once knew.
func ofHoles() []Mistake {
	return []Mistake{
		{"batch-innocents-parked", "when a transaction is refused, the others are tried again, each alone", []Edit{{engine,
			"	case isRefused && len(moves) == 1:\n\t\tmoves[0].state, moves[0].err = poison, err\n\tcase isRefused:\n",
			"	case isRefused:\n\t\tfor _, m := range moves {\n\t\t\tm.state, m.err = poison, err\n\t\t}\n"}}},
		{"archive-one-delivery-id-for-two-lives", "a delivery id is the same on a repeat alone",
			[]Edit{{"pkg/archive/announce.go",
				"ch.Key, ch.Version))", "ch.Key, 0*ch.Version))"}}},
	}
}
