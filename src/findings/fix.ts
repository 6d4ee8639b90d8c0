// A fix: lines of one file that would mend what a finding complains of. Made where the file's text is; renderers show it,
// and nothing applies it but people.

export interface Fix {
  readonly file: string
  /** The lines that go, from 1, both ends included; at least one. */
  readonly first: number
  readonly last: number
  readonly before: readonly string[]
  /** The lines that come in their place. */
  readonly after: readonly string[]
}

/** As the body of a unified diff: what stays of the lines is shown as context. */
export function formatFixAsDiff({ before, after }: Fix): readonly string[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++
  return [
    ...before.slice(0, head).map((line) => ` ${line}`),
    ...before.slice(head, before.length - tail).map((line) => `-${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+${line}`),
    ...before.slice(before.length - tail).map((line) => ` ${line}`),
  ]
}
