package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/metering"
	"nexus/pkg/limit"
	"nexus/pkg/table"
)

const (
	headerPolicy = "RateLimit-Policy"
	headerRate   = "RateLimit"
)

// Points of the user's rate.
const (
	// unitsIncluded is the number of the table's units that each command has for its point, and unitsPerPoint how many
	// more cost a point each.
	unitsIncluded = 20
	unitsPerPoint = 20
	// countedFor is the number of requests for which one that asks the row counts.
	countedFor = 10
	// maxUnasked is the number of points above which a request asks the row in any case.
	maxUnasked = 20
	// componentsPerPoint is the number of an import's components that cost a point before the first write.
	componentsPerPoint = 2
	// walkedPerPoint is the number of a series' exceptions that cost a point of the change that sets off a walk over them.
	walkedPerPoint = 20
)

// newLimiter returns the limiter of the configured limits; nil without any.
func newLimiter(c limit.Config) *limit.Limiter {
	return limit.New(c, limit.Keys{
		Rate: metering.RateKey, Meta: entity.MetaKey, Count: metering.CountKey,
	})
}

// spending counts what one request uses of its user's rate. The zero spending has no limit.
type spending struct {
	limiter  *limit.Limiter
	user     string
	commands int // that the request stands for
	walks    int // points for walks that it sets off
	paid     int // points that were taken
	sampled  bool
	pays     bool // for its content
	tally    table.Tally
	state    *limit.State // of the last use of the row; nil if the row was not asked
}

// admit takes the point of a request, before anything of it is read. What pays for its content pays in
// [spending.pay]. The error is a [*limit.RateError], or the store's.
func (s *spending) admit(ctx context.Context, paysForContent bool) error {
	if s.limiter == nil {
		return nil
	}
	s.commands, s.pays = 1, paysForContent
	if err := s.limiter.Refused(s.user, limit.User); err != nil {
		return err
	}
	if s.sampled = !paysForContent && s.limiter.Sampled(); !s.sampled {
		return nil
	}
	return s.take(ctx, countedFor)
}

// pay takes the points of a request with content, before its first write. What the full bucket does not hold is a
// [*limit.SizeError], and owes the one point of a request.
func (s *spending) pay(ctx context.Context, points, commands int) error {
	if s == nil || s.limiter == nil {
		return nil
	}
	if err := s.limiter.Fits(limit.User, points); err != nil {
		return err
	}
	s.commands = commands
	return s.take(ctx, points)
}

func (s *spending) take(ctx context.Context, points int) error {
	state, err := s.limiter.Take(ctx, s.user, limit.User, points)
	if err != nil {
		s.commands = 0 // what was refused owes nothing
		return err
	}
	s.state, s.paid = &state, points
	return nil
}

// walk counts a walk over the exceptions of a series. Its points are owed in the end.
func (s *spending) walk(exceptions int) {
	if s != nil {
		s.walks += exceptions / walkedPerPoint
	}
}

// close counts what the request has cost beyond what it paid. It returns the error of the store for the log: what was
// done is done.
func (s *spending) close(ctx context.Context) error {
	if s.limiter == nil || s.commands == 0 {
		return nil
	}
	points := s.commands + s.walks
	if more := s.tally.Units() - float64(unitsIncluded*s.commands); more > 0 {
		points += int(math.Ceil(more / unitsPerPoint))
	}
	owed := 0
	switch {
	case s.sampled && points <= maxUnasked:
		owed = (points - 1) * countedFor
	case s.paid > 0 || s.pays || points > maxUnasked:
		owed = points - s.paid
	}
	if owed <= 0 {
		return nil
	}
	state, err := s.limiter.Owe(context.WithoutCancel(ctx), s.user, limit.User, owed)
	if err != nil {
		return fmt.Errorf("count what the request has cost: %w", err)
	}
	s.state = &state
	return nil
}

// setRate sets the fields of the answer that describe a bucket (draft-ietf-httpapi-ratelimit-headers-11).
func setRate(h http.Header, s limit.State) {
	h.Set(headerPolicy, s.Policy.String())
	h.Set(headerRate, s.String())
}

// problemOfLimit turns an error of the limits into its answer; nil for another error.
func problemOfLimit(err error) *Problem {
	var (
		rate  *limit.RateError
		size  *limit.SizeError
		quota *limit.QuotaError
	)
	switch {
	case errors.As(err, &rate):
		seconds := int(rate.RetryAfter / time.Second)
		p := refuse(rateLimited, "Ask again in %d s.", seconds).with("Retry-After", strconv.Itoa(seconds))
		p.RetryAfter = seconds
		setRate(p.header, rate.State)
		return p
	case errors.As(err, &size):
		p := refuse(exceedsRate, "It needs %d points, and the full bucket holds %d. Send it in parts.", size.Points,
			size.Policy.Quota)
		p.Points, p.Limit = size.Points, &size.Policy.Quota
		return p
	case errors.As(err, &quota):
		p := refuse(quotaReached, "There are %d of at most %d.", quota.Used, quota.Limit)
		if slices.Contains(histories, quota.Name) {
			p = refuse(historyFull, "There are %d of at most %d revisions: prune the history.", quota.Used, quota.Limit)
		}
		p.Quota, p.Limit, p.Used = quota.Name, &quota.Limit, &quota.Used
		return p
	}
	return nil
}

// updateMe changes the settings, and the zone once in a while.
func updateMe(ctx context.Context, s *Config, c call) (answer, error) {
	cmd := command.UpdateMe{Patch: c.doc}
	if c.limited {
		cmd.ZonePause = s.limiter.ZonePause()
	}
	out, err := s.do(ctx, c, cmd)
	var soon *command.TooSoonError
	if errors.As(err, &soon) {
		return answer{}, s.limiter.ZoneRefusal(soon.Again)
	}
	return out, err
}

// exportFeed answers at the secret address, so often in an hour.
func exportFeed(ctx context.Context, s *Config, c call, address string) (answer, error) {
	var state *limit.State
	out, err := s.Calendar.ExportFeed(ctx, address, int(c.query.Int(FeedPart)), func(user string) error {
		if gone, err := s.isGone(ctx, user); gone || err != nil {
			return cmp.Or(err, calendar.ErrNoFeed)
		}
		if s.limiter == nil {
			return nil
		}
		if err := s.limiter.Refused(user, limit.Feed); err != nil {
			return err
		}
		taken, err := s.limiter.Take(ctx, user, limit.Feed, 1)
		state = &taken
		return err
	})
	a, err := answerExport(out, err)
	a.rate = state
	return a, err
}

// admitImport makes an import pay for its components before it writes any.
func admitImport(ctx context.Context, s *Config, c call, components int) error {
	if !c.limited {
		return nil
	}
	if err := s.limiter.RoomFor(
		ctx, c.user, components, limit.Content, limit.Exceptions, limit.Gone, limit.Schedules,
	); err != nil {
		return err
	}
	return c.spending.pay(ctx, 1+components/componentsPerPoint, 1)
}
