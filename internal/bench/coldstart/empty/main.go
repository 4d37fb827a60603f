// Command empty is the baseline for the cold starts of the other functions: the same runtime package, and no work.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

type handler struct{}

func (handler) Invoke(context.Context, []byte) ([]byte, error) { return []byte("{}"), nil }

func main() { lambda.Start(handler{}) }
