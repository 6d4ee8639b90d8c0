// Which line of one text is which line of another, when both have a common past: for showing a place of a merge result
// where people see it. Two lines that belong together say the same, letter by letter.
import { findShortestEdits } from './shortest-edits.ts'

/** Texts that differ by more lines are matched by lines that stand in each only once. */
const maxEdits = 600

/** Where line `line` (from 1) of `from` stands in `to`; undefined where `to` has no such line. */
export type LineMap = (line: number) => number | undefined

/** Matches lines in their order, or, where too much differs, those that stand once in each text. */
export function createLineMap(from: string, to: string): LineMap {
  const [old, now] = [from.split('\n'), to.split('\n')]
  const map = matchLinesInOrder(old, now) ?? matchByUniqueLines(old, now)
  return (line) => {
    const found = map.get(line - 1)
    return found === undefined ? undefined : found + 1
  }
}

function matchLinesInOrder(
  old: readonly string[],
  now: readonly string[],
): ReadonlyMap<number, number> | undefined {
  const edits = findShortestEdits(old, now, maxEdits)
  if (edits === undefined) return undefined
  const gone = new Set(edits.filter(({ kind }) => kind === '-').map((edit) => edit.old))
  const come = new Set(edits.filter(({ kind }) => kind === '+').map((edit) => edit.new))
  const map = new Map<number, number>()
  let at = 0
  for (let line = 0; line < old.length; line++) {
    if (gone.has(line)) continue
    while (come.has(at)) at++
    map.set(line, at++)
  }
  return map
}

function matchByUniqueLines(old: readonly string[], now: readonly string[]): ReadonlyMap<number, number> {
  const positions = indexUniqueLines(now)
  return new Map(
    [...indexUniqueLines(old)].flatMap(([text, line]) => {
      const position = positions.get(text)
      return position === undefined ? [] : [[line, position] as const]
    }),
  )
}

function indexUniqueLines(lines: readonly string[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>()
  const repeated = new Set<string>()
  lines.forEach((line, at) => {
    if (first.has(line)) repeated.add(line)
    else first.set(line, at)
  })
  for (const line of repeated) first.delete(line)
  return first
}
