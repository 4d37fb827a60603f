package command

import "context"

// DeleteSeries removes a series with all of its exceptions for good. It needs the expected version. Once the series is
// gone, its exceptions are invisible; their rows are deleted afterwards.
type DeleteSeries struct{ ID string }

func (cmd DeleteSeries) content() []any { return []any{"deleteSeries", cmd.ID} }

func (cmd DeleteSeries) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.checkSeries(cmd.ID)
	if err != nil {
		return Result{}, err
	}
	res, err := c.remove(ctx, c.masterType(), ref)
	if err == nil && !res.Replayed {
		if err := c.drop(ctx, cmd.ID); err != nil {
			return Result{}, unfinished(err)
		}
	}
	return c.finish(ctx, cmd.ID, res, err)
}
