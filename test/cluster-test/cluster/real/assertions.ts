// The claims about a run on a real control plane: each with the observation, and all of them in a table at the end.
export interface AssertionRecorder {
  /** Starts a section of claims about this installer. */
  readonly startSection: (what: string) => void
  readonly claim: (what: string, holds: boolean, seen: string) => void
  /** The number of claims that failed. */
  readonly wrong: () => number
  readonly table: () => string
}

export function createAssertionRecorder(log: (line: string) => void): AssertionRecorder {
  const rows: { about: string; what: string; holds: boolean; seconds: number }[] = []
  let about = ''
  let last = performance.now()
  return {
    startSection: (what) => {
      about = what
      last = performance.now()
      log(`\n== ${what}`)
    },
    claim(what, holds, seen) {
      const now = performance.now()
      rows.push({ about, what, holds, seconds: (now - last) / 1000 })
      last = now
      log(`${holds ? 'ok    ' : 'WRONG '} ${what}`)
      for (const line of seen.trimEnd().split('\n')) log(`         ${line}`)
    },
    wrong: () => rows.filter(({ holds }) => !holds).length,
    table() {
      const cells = [
        ['with', 'what', 'seen', 'seconds'],
        ...rows.map((row) => [row.about, row.what, row.holds ? 'yes' : 'NO', row.seconds.toFixed(1)]),
      ]
      const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
      return cells
        .map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`)
        .join('\n')
    },
  }
}
