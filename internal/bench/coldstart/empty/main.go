// Command empty is the function that the others are measured against: the same runtime package, and nothing to do.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

type handler struct{}

func (handler) Invoke(context.Context, []byte) ([]byte, error) { return []byte("{}"), nil }

func main() { lambda.Start(handler{}) }
