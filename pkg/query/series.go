package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/table"
)

// Series is a series with its exceptions, each as its user sees it, in the order of their dates.
type Series struct {
	Master    item.Item
	Instances []item.Item
	// Next is the cursor of the instances that do not fit into this page; empty at the end.
	Next string
}

// Series returns a series with the exceptions that count: one read of the master and one of the instances, in parallel
// (AP7). A page ends at about 1 MB; the cursor leads to the following instances.
func (s *Service) Series(ctx context.Context, user, masterID, cursor string) (Series, error) {
	if err := checkUser(user); err != nil {
		return Series{}, err
	}
	t := s.registry.ByName(entity.TypeMaster)
	if t == nil || entity.CheckID(t.IDPrefix, masterID) != nil {
		return Series{}, ErrNotFound
	}
	ask := question{user, "series", []string{masterID}}
	after, err := startOfInstances(cursor, ask)
	if err != nil {
		return Series{}, err
	}
	var (
		master item.Item
		rows   []item.Item
	)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		master, err = s.get(gctx, user, t, masterID)
		return err
	})
	g.Go(func() (err error) {
		rows, err = s.instances(gctx, user, masterID)
		return err
	})
	if err := g.Wait(); err != nil {
		return Series{}, err
	}
	compiled, err := series.New(master, time.UTC, rows...)
	if err != nil {
		return Series{}, err
	}
	return pageOfInstances(compiled, ask, after), nil
}

// maxInstancePages bounds the pages of instances read; commands allow no more rows than these hold.
const maxInstancePages = 300

func (s *Service) instances(ctx context.Context, user, masterID string) ([]item.Item, error) {
	q := table.Query{Partition: entity.UserPK(user), Range: table.Range{Prefix: entity.InstancePrefix(masterID)}}
	rows, err := table.All(ctx, s.store, q, maxInstancePages)
	if err != nil {
		return nil, fmt.Errorf("read the instances of %s: %w", masterID, err)
	}
	return rows, nil
}

// startOfInstances returns the date after which a page begins; empty for the beginning.
func startOfInstances(text string, ask question) (string, error) {
	c, ok, err := decodeCursor(text, ask)
	if err != nil || !ok {
		return "", err
	}
	if !entity.IsCompactDate(c.SK) {
		return "", ErrCursor
	}
	return c.SK, nil
}

func pageOfInstances(s *series.Series, ask question, after string) Series {
	out := Series{Master: s.Master()}
	weight, last := weigh(out.Master), ""
	for _, o := range s.Exceptions() {
		if o.Date <= after {
			continue
		}
		it := s.Item(o)
		if weight += weigh(it); weight > maxPageBytes && last != "" {
			out.Next = cursor{SK: last}.encode(ask)
			break
		}
		out.Instances, last = append(out.Instances, it), o.Date
	}
	return out
}

// Event returns the event, series, or occurrence of a series with the id (AP2). An occurrence that never differed has
// no row: it is made of its series, with the series' version.
func (s *Service) Event(ctx context.Context, user, id string) (Found, error) {
	switch t := s.registry.ByID(id); {
	case t == nil:
		return Found{}, errors.Join(checkUser(user), ErrNotFound)
	case t.Name == product.TypeEvent, t.Name == entity.TypeMaster, t.Name == entity.TypeInstance:
		it, err := s.Get(ctx, user, t, id)
		return Found{t, it}, err
	}
	return Found{}, errors.Join(checkUser(user), ErrNotFound)
}

// occurrence returns one occurrence of a series as its user sees it, by its id, in one round trip.
func (s *Service) occurrence(ctx context.Context, user, id string) (item.Item, error) {
	masterID, _, err := entity.ParseInstanceID(id)
	if err != nil {
		return nil, ErrNotFound
	}
	master, instance := entity.Ref{Type: entity.TypeMaster, ID: masterID}, entity.Ref{Type: entity.TypeInstance, ID: id}
	keys := []item.Key{entity.ItemKey(user, master), entity.ItemKey(user, instance)}
	rows, err := s.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %s and its series: %w", keys[1], err)
	}
	found := byKey(rows)
	if row := found[keys[0]]; row == nil || entity.Expired(row, s.now()) {
		return nil, &NotFoundError{master}
	}
	it, ok, err := effective(found[keys[0]], found[keys[1]], id, s.now())
	if err == nil && !ok {
		err = ErrNotFound
	}
	return it, err
}

func byKey(rows []item.Item) map[item.Key]item.Item {
	found := make(map[item.Key]item.Item, len(rows))
	for _, row := range rows {
		found[row.Key()] = row
	}
	return found
}

// dateOf returns the date YYYYMMDD in an occurrence's id; false for a malformed id, as a damaged row may have.
func dateOf(id string) (string, bool) {
	_, date, err := entity.ParseInstanceID(id)
	return date, err == nil
}

// effective returns an occurrence from the rows of its series and its own, which may be nil; false if there is no such
// occurrence.
func effective(master, row item.Item, id string, now time.Time) (item.Item, bool, error) {
	date, ok := dateOf(id)
	if !ok || master == nil || entity.Expired(master, now) {
		return nil, false, nil
	}
	s, err := series.New(master, time.UTC, row)
	if err != nil {
		return nil, false, err
	}
	o, ok := s.On(date)
	if !ok {
		return nil, false, nil
	}
	return s.Item(o), true, nil
}
