package memory

import (
	"strings"
	"time"

	"nexus/pkg/table"
)

// Stored counts the content of the table or of one of its indexes. DynamoDB bills 100 bytes more for each row of
// either.
type Stored struct {
	Index table.Index // [table.Base] for the table
	Rows  int
	Bytes int64
}

// Stored returns the content of the table and each of its indexes, the table first: of the present rows those that TTL
// has not removed by the instant. It counts rows alone whose sort keys begin with the prefix.
func (s *Store) Stored(by time.Time, prefix string) []Stored {
	s.mu.RLock()
	defer s.mu.RUnlock()
	stays := func(r *row) bool {
		seconds, expires := s.expiresAt(r)
		return strings.HasPrefix(r.item.Key().SK, prefix) && (!expires || seconds >= by.Unix())
	}
	whole := Stored{Index: table.Base}
	s.base.each(func(r *row) {
		if stays(r) {
			whole.Rows++
			whole.Bytes += int64(r.size)
		}
	})
	out := []Stored{whole}
	for i, index := range s.schema.Indexes {
		one := Stored{Index: index.Name}
		s.indexes[i].each(func(r *row) {
			if stays(r) {
				one.Rows++
				one.Bytes += int64(projectedSize(index, r))
			}
		})
		out = append(out, one)
	}
	return out
}

func (p partitions) each(visit func(*row)) {
	for _, rows := range p {
		for _, chunk := range rows.chunks {
			for _, e := range chunk {
				visit(e.row)
			}
		}
	}
}
