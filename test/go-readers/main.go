// Reads archives and documents as Go programs do, and says what it found: a line of JSON in, a line of JSON out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type question struct {
	// Layers of an image, from the bottom up; []byte is base64 in JSON.
	Layers [][]byte
	// Or one document, and what it is read as: manifest, index, config.
	Kind     string
	Document []byte
}

type answer struct {
	Error string            `json:"error,omitempty"`
	Files map[string][]byte `json:"files,omitempty"`
	Read  any               `json:"read,omitempty"`
}

func main() {
	directory, err := os.MkdirTemp("", "go-readers-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(directory)
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	replies := bufio.NewWriter(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		told, err := json.Marshal(answerTo(asked, directory))
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(replies, "%s\n", told)
		// Questions may come many at a time.
		if lines.Buffered() == 0 {
			replies.Flush()
		}
	}
}

func answerTo(asked question, directory string) answer {
	if asked.Kind != "" {
		read, err := readDocument(asked.Kind, asked.Document)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Read: read}
	}
	files, err := unpack(asked.Layers, directory)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Files: files}
}
