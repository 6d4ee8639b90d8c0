package main

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// More than any archive of the comparison holds; a sparse file says it is as large as it likes.
const largestFile = 1 << 20

// Unpacks layers onto the disk, as opm does (operator-registry's containersimageregistry: compression by the first bytes,
// then containerd's archive.Apply with root's rights), and reads what opm and others would look at.
func unpack(layers [][]byte, directory string) (map[string][]byte, error) {
	root, err := os.MkdirTemp(directory, "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	for _, layer := range layers {
		archive, err := decompressed(layer)
		if err != nil {
			return nil, err
		}
		if err := (&layering{root, map[string]bool{}}).apply(tar.NewReader(archive)); err != nil {
			return nil, err
		}
	}
	files := map[string][]byte{}
	for _, name := range []string{"manifests", "metadata"} {
		if err := read(root, name, files); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func decompressed(layer []byte) (io.Reader, error) {
	begins := func(magic string) bool { return bytes.HasPrefix(layer, []byte(magic)) }
	switch {
	case begins("\x1f\x8b\x08"):
		return gzip.NewReader(bytes.NewReader(layer))
	case begins("BZh"):
		return bzip2.NewReader(bytes.NewReader(layer)), nil
	case begins("\x28\xb5\x2f\xfd"):
		return unzstd(layer)
	case begins("\xfd7zXZ\x00"):
		return nil, errors.New("a compression that the standard library does not have")
	}
	return bytes.NewReader(layer), nil
}

// One layer on its way onto the disk, with the paths that it had entries for.
type layering struct {
	root    string
	entered map[string]bool
}

func (l *layering) apply(archive *tar.Reader) error {
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := l.put(header, archive); err != nil {
			return fmt.Errorf("%q: %w", header.Name, err)
		}
	}
}

func (l *layering) put(header *tar.Header, content io.Reader) error {
	folder, base := filepath.Split(filepath.Clean(header.Name))
	folder, err := inside(l.root, folder)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, filepath.Join("/", base))
	if path == l.root {
		return nil
	}
	if err := makeDirectories(l.root, folder); err != nil {
		return err
	}
	if strings.HasPrefix(base, ".wh.") {
		return l.whiteOut(folder, base)
	}
	if found, err := os.Lstat(path); err == nil && !(found.IsDir() && header.Typeflag == tar.TypeDir) {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	l.entered[path] = true
	return l.create(path, header, content)
}

func (l *layering) create(path string, header *tar.Header, content io.Reader) error {
	switch header.Typeflag {
	case tar.TypeDir:
		if found, err := os.Lstat(path); err == nil && found.IsDir() {
			return nil
		}
		return os.Mkdir(path, 0o700)
	case tar.TypeReg:
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		written, err := io.Copy(file, io.LimitReader(content, largestFile+1))
		if written > largestFile {
			return errors.New("a file is too large")
		}
		return err
	case tar.TypeSymlink:
		return os.Symlink(header.Linkname, path)
	case tar.TypeLink:
		folder, base := filepath.Split(header.Linkname)
		folder, err := inside(l.root, folder)
		if err != nil {
			return err
		}
		target := filepath.Join(folder, base)
		if !strings.HasPrefix(target, l.root) {
			target = l.root
		}
		return os.Link(target, path)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		// A pipe stands for all three: making a device takes rights that a test has not.
		return syscall.Mkfifo(path, 0o600)
	case tar.TypeXGlobalHeader:
		return nil
	}
	return fmt.Errorf("type %q", header.Typeflag)
}

func (l *layering) whiteOut(folder, base string) error {
	if base == ".wh..wh..opq" {
		return filepath.Walk(folder, func(path string, _ os.FileInfo, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil, path == folder, l.entered[path]:
				return err
			}
			return os.RemoveAll(path)
		})
	}
	hidden := filepath.Join(folder, base[len(".wh."):])
	if !strings.HasPrefix(hidden, folder+"/") {
		return errors.New("a whiteout of nothing")
	}
	return os.RemoveAll(hidden)
}

// Every directory up to path, none of them a link.
func makeDirectories(root, path string) error {
	if path == root {
		return nil
	}
	found, err := os.Lstat(path)
	if err == nil && found.IsDir() {
		return nil
	}
	if err == nil {
		return syscall.ENOTDIR
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeDirectories(root, filepath.Dir(path)); err != nil {
		return err
	}
	return os.Mkdir(path, 0o700)
}

// Where a path lies below root, links on the way followed as if root were the whole disk.
func inside(root, path string) (string, error) {
	done := "/"
	left := strings.Split(path, "/")
	for links := 0; len(left) > 0; {
		part := left[0]
		left = left[1:]
		next := filepath.Join(done, part)
		target, err := os.Readlink(filepath.Join(root, next))
		if err != nil {
			if errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ENOTDIR) {
				return "", err
			}
			done = next
			continue
		}
		if links++; links > 255 {
			return "", errors.New("too many links")
		}
		if filepath.IsAbs(target) {
			done = "/"
		}
		left = append(strings.Split(target, "/"), left...)
	}
	return filepath.Join(root, done), nil
}

// All files below a directory. What a reader could follow to somewhere else, or wait for, is an error.
func read(root, name string, files map[string][]byte) error {
	top := filepath.Join(root, name)
	if _, err := os.Lstat(top); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	found, err := resolved(root, top)
	if err != nil {
		return err
	}
	if state, err := os.Stat(found); err != nil || !state.IsDir() {
		return err
	}
	return filepath.WalkDir(found, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := resolved(root, path)
		if err != nil {
			return err
		}
		state, err := os.Stat(file)
		if err != nil {
			return err
		}
		if !state.Mode().IsRegular() {
			return fmt.Errorf("%q is no file", path[len(root):])
		}
		content, err := os.ReadFile(file)
		files[name+path[len(found):]] = content
		return err
	})
}

func resolved(root, path string) (string, error) {
	found, err := filepath.EvalSymlinks(path)
	if err == nil && !strings.HasPrefix(found, root+"/") && found != root {
		err = errors.New("a link out of the image")
	}
	if err != nil {
		return "", err
	}
	// EvalSymlinks passes over a slash behind a file, which the system does not.
	_, err = os.Stat(path)
	return found, err
}
