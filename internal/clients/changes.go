package main

import (
	"context"
	"errors"
	"net/http"

	"nexus/clients/generated/nexus"
)

// changes takes a snapshot, which has what the flow has made, and asks for what is new. An exception of a series comes
// as it is stored.
func (f *flow) changes(ctx context.Context) error {
	kinds, next := map[string]int{}, ""
	for params := (&nexus.GetChangesParams{}); next == ""; {
		page, err := f.GetChangesWithResponse(ctx, params)
		if err != nil {
			return err
		}
		if err := answered("take a snapshot", http.StatusOK, page.HTTPResponse, page.Body, nil); err != nil {
			return err
		}
		for _, change := range *page.JSON200.Items {
			kinds[string(change.Type)]++
			if change.Type != nexus.ChangeTypeINSTANCE {
				continue
			}
			if stored, err := change.Item.AsChangedInstance(); err != nil || stored.EventId != *change.Id {
				return errors.Join(errors.New("the exception is another one"), err)
			}
		}
		if params.Cursor = page.JSON200.Cursor; page.JSON200.Next != nil {
			next = *page.JSON200.Next
		}
	}
	for _, kind := range []nexus.ChangeType{
		nexus.ChangeTypeUSERMETA, nexus.ChangeTypeMASTER, nexus.ChangeTypeINSTANCE, nexus.ChangeTypeVALUES,
	} {
		if kinds[string(kind)] == 0 {
			return errors.New("the snapshot has nothing of " + string(kind))
		}
	}
	since, err := f.GetChangesWithResponse(ctx, &nexus.GetChangesParams{Since: &next})
	if err != nil {
		return err
	}
	if err := answered("ask for changes", http.StatusOK, since.HTTPResponse, since.Body, nil); err != nil {
		return err
	}
	check, err := f.CheckChangesWithResponse(ctx, &nexus.CheckChangesParams{})
	return errors.Join(
		equal("more changes", false, *since.JSON200.More), err,
		answered("check the copy", http.StatusOK, check.HTTPResponse, check.Body, nil),
	)
}
