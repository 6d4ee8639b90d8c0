//go:build zstd

package main

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"
)

// As containers/image, and so opm, unpacks zstd (pkg/compression: zstd.NewReader without options).
func unzstd(layer []byte) (io.Reader, error) {
	return zstd.NewReader(bytes.NewReader(layer))
}
