// A fix: a change to the lines of one file that resolves a finding. It is created where the text of the file is available.
// Renderers show it, but catalog-bot never applies it.

export interface SuggestedFix {
  readonly file: string
  /** The lines to remove, starting at 1, both ends included. At least one line. */
  readonly first: number
  readonly last: number
  readonly before: readonly string[]
  /** The replacement lines. */
  readonly after: readonly string[]
}

/** Formats the fix as the body of a unified diff, with unchanged lines as context. */
export function formatFixAsDiff({ before, after }: SuggestedFix): readonly string[] {
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
