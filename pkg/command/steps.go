package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Steps is a write of several steps under an idempotency key.
type Steps struct {
	// Answer is the answer of an earlier execution of the request; nil if it must be carried out now.
	Answer []byte
	call   call
	until  int64 // of the lease; 0 without a key
	theirs int64 // until of another request's lease, as it was read last
}

const (
	// stepsLease is how long a request may pause its steps before another begins them again. A running one renews the
	// lease when a third of it is over. Steps are harmless to repeat, also beside one that was only slow.
	stepsLease = 6 * time.Second
	// stepsLook bounds the pause between two reads of another request's lease, and maxLooks their number.
	stepsLook = 500 * time.Millisecond
	maxLooks  = 60
	// maxAnswer bounds a stored answer, in bytes.
	maxAnswer = 4 << 20

	// doneSteps, in the status of a receipt, says that all steps were done; runningSteps that a request carries them out.
	doneSteps       = "STEPS"
	runningSteps    = "RUNNING"
	attrLeaseUntil  = "leaseUntil"
	attrAnswer      = "answer"
	maxAnswerZipped = 350 << 10 // a row has 400 KB
)

// BeginSteps begins a write of several steps that is harmless to repeat. The request's values identify it as the same
// as another under the same key. [idempotency.ErrKey] and [idempotency.ErrKeyReused] as for commands. Without a key
// nothing is stored.
//
// If another request under the key has begun them and not ended, BeginSteps reads the receipt for as long as the lease
// lasts:
//   - If the answer is stored, it returns the answer.
//   - If the lease ends, it begins the steps.
//   - If the lease is renewed, it returns [ErrInProgress]: the other request is running.
func (s *Service) BeginSteps(ctx context.Context, user, key string, request ...any) (*Steps, error) {
	if err := entity.CheckUserID(user); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	c := call{Service: s, user: user, now: s.second()}
	if key == "" {
		return &Steps{call: c}, nil
	}
	var err error
	if c.receipt, err = idempotency.New(user, key, idempotency.Retention, request); err != nil {
		return nil, err
	}
	steps := &Steps{call: c}
	for range maxLooks {
		met := steps.theirs
		done, err := steps.begin(ctx)
		switch {
		case err != nil:
			return nil, err
		case done:
			return steps, nil
		case met != 0 && steps.theirs != met:
			return nil, ErrInProgress
		}
		if s.wait(ctx, stepsLook) != nil {
			return nil, ErrInProgress
		}
	}
	return nil, ErrInProgress
}

// lease returns the row of the request that carries the steps out from now on.
func (s *Steps) lease() table.Put {
	s.call.now = s.call.second()
	put := s.call.receiptOf(effect{done: runningSteps})
	put.Item[attrLeaseUntil] = item.Int(s.call.now.Add(stepsLease).Unix())
	return put
}

// begin takes the lease, or finds the answer or another request's lease.
func (s *Steps) begin(ctx context.Context) (done bool, err error) {
	put := s.lease()
	s.until = put.Item.Int(attrLeaseUntil)
	err = s.call.store.Put(ctx, put)
	var failed *table.ConditionError
	if err == nil {
		return true, nil
	}
	if !errors.As(err, &failed) {
		return false, fmt.Errorf("put receipt %s: %w", s.call.receipt.Key, err)
	}
	old := failed.Failures[0].Old
	var replay *idempotency.ReplayError
	if err := s.call.receipt.Check(old, s.call.now); !errors.As(err, &replay) {
		return false, err
	}
	switch {
	case old.Str(entity.AttrStatus) == doneSteps:
		s.Answer, err = unzip(old)
		return true, err
	case old.Int(attrLeaseUntil) > s.call.now.Unix():
		s.theirs = old.Int(attrLeaseUntil)
		return false, nil
	}
	put.If = table.Exists(table.Equal(attrLeaseUntil, old[attrLeaseUntil])) // its former owner did not renew it
	err = s.call.store.Put(ctx, put)
	if errors.As(err, &failed) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("put receipt %s: %w", s.call.receipt.Key, err)
	}
	return true, nil
}

// Alive renews the lease if a third of it is over. [ErrInProgress] if another request has it now.
func (s *Steps) Alive(ctx context.Context) error {
	if s.call.receipt == nil || s.until-s.call.second().Unix() > int64(stepsLease*2/3/time.Second) {
		return nil
	}
	put := s.lease()
	put.If = table.Exists(table.Equal(attrLeaseUntil, item.Int(s.until)))
	err := s.call.store.Put(ctx, put)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return ErrInProgress
	}
	if err != nil {
		return fmt.Errorf("renew receipt %s: %w", s.call.receipt.Key, err)
	}
	s.until = put.Item.Int(attrLeaseUntil)
	return nil
}

// End stores the answer. A request that took over stores its own.
func (s *Steps) End(ctx context.Context, answer []byte) error {
	if s.call.receipt == nil {
		return nil
	}
	zipped, err := s.call.zip(answer)
	if err != nil {
		return err
	}
	put := s.call.receiptOf(effect{done: doneSteps})
	put.Item[attrAnswer] = item.Binary(zipped)
	put.If = table.Exists(table.Equal(attrLeaseUntil, item.Int(s.until)))
	return s.resolveFailure("put", s.call.store.Put(ctx, put))
}

// Abandon releases the key for a repetition at once, after a failure.
func (s *Steps) Abandon(ctx context.Context) error {
	if s.call.receipt == nil {
		return nil
	}
	return s.resolveFailure("delete", s.call.store.Delete(ctx, table.Delete{
		Key: s.call.receipt.Key, If: table.Exists(table.Equal(attrLeaseUntil, item.Int(s.until))),
	}))
}

func (s *Steps) resolveFailure(doing string, err error) error {
	var failed *table.ConditionError
	if err == nil || errors.As(err, &failed) {
		return nil
	}
	return fmt.Errorf("%s receipt %s: %w", doing, s.call.receipt.Key, err)
}

func (s *Service) zip(answer []byte) ([]byte, error) {
	var b bytes.Buffer
	w, ok := s.compressors.Get().(*gzip.Writer)
	if !ok {
		w = gzip.NewWriter(nil)
	}
	defer s.compressors.Put(w)
	w.Reset(&b)
	_, err := w.Write(answer)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compress an answer: %w", err)
	}
	if b.Len() > maxAnswerZipped || len(answer) > maxAnswer {
		return nil, fmt.Errorf("an answer of %d bytes is too long to be remembered", len(answer))
	}
	return b.Bytes(), nil
}

func unzip(row item.Item) ([]byte, error) {
	zipped, _ := row[attrAnswer].(item.Binary)
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, fmt.Errorf("receipt %s: %w", row.Key(), err)
	}
	answer, err := io.ReadAll(io.LimitReader(r, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("receipt %s: %w", row.Key(), err)
	}
	return answer, nil
}
