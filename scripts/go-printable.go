// Writes src/go/printable.ts: which characters the Go of an opm release takes for printable. Run it with
// the Go that builds that opm (go version -m opm): go run scripts/go-printable.go > src/go/printable.ts
package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

func main() {
	var lines []string
	line := " "
	start, printable := rune(0), false
	for point := rune(0); point <= unicode.MaxRune+1; point++ {
		if point <= unicode.MaxRune && strconv.IsPrint(point) == printable {
			continue
		}
		length := strconv.FormatInt(int64(point-start), 36)
		if len(line)+1+len(length) > 110 {
			lines = append(lines, line)
			line = " "
		}
		line += " " + length
		start, printable = point, !printable
	}
	fmt.Printf(`// Which characters Go takes for printable. Its tables are those of Unicode %s, while Node's follow newer ones.
// Made by scripts/go-printable.go; not edited by hand.

/** Lengths of runs of characters, in base 36: not printable, printable, not printable and so on, from U+0000. */
const runs = `+"`\n%s\n`"+`

/** First characters of the runs. */
let starts: readonly number[] | undefined

/** Whether Go's strconv.IsPrint says so of a code point; what Go's Unicode does not know yet is not printable. */
export function isPrintable(point: number): boolean {
  starts ??= startsOf(runs)
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] as number) <= point) low = middle
    else high = middle - 1
  }
  return low %% 2 === 1
}

function startsOf(lengths: string): number[] {
  let start = 0
  return lengths
    .trim()
    .split(/\s+/)
    .map((length) => (start += parseInt(length, 36)) - parseInt(length, 36))
}
`, unicode.Version, strings.Join(append(lines, line), "\n"))
}
