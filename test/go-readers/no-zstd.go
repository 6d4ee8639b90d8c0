//go:build !zstd

package main

import (
	"errors"
	"io"
)

// Built where the module cannot be had: go-readers.ts says so.
func unzstd([]byte) (io.Reader, error) {
	return nil, errors.New("built without zstd")
}
