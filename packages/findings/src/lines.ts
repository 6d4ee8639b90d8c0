// Finds the shortest edits between two texts, and the lines that these edits move.
import { diffArrays } from 'diff'

/** Texts that differ in more lines are matched by the lines that occur exactly once in each. */
const maxDiffLineEdits = 600

/**
 * The number of the line in `to` that corresponds to line `line` (starting at 1) of `from`. Undefined if no line
 * corresponds.
 */
export type LineNumberMapper = (line: number) => number | undefined

interface LineEdit {
  /** Line in the new text, starting at 0. For a removed line, the line before which it was. */
  readonly new: number
  readonly kind: '-' | '+'
}

/** The fewest removed and added lines, in order. Undefined if there are more than `maxEdits`. */
export function findShortestEdits(
  old: readonly string[],
  now: readonly string[],
  maxEdits: number,
): readonly LineEdit[] | undefined {
  const parts = diffArrays([...old], [...now], { maxEditLength: maxEdits })
  if (parts === undefined) return undefined
  const edits: LineEdit[] = []
  let line = 0
  for (const { added, removed, count } of parts)
    if (added || removed)
      for (let at = 0; at < count; at++) edits.push({ new: added ? line++ : line, kind: added ? '+' : '-' })
    else line += count
  return edits
}

// Maps the lines of one text to the lines of a related text, to show a location in a merge result at the corresponding line
// of the pull request. Corresponding lines are identical.

/** Matches lines in order. If the texts differ too much, matches only lines that occur exactly once in each. */
export function createLineNumberMapper(from: string, to: string): LineNumberMapper {
  const [old, now] = [from.split('\n'), to.split('\n')]
  const map = matchLinesByShortestEdits(old, now) ?? matchLinesByUniqueContent(old, now)
  return (line) => {
    const found = map.get(line - 1)
    return found === undefined ? undefined : found + 1
  }
}

function matchLinesByShortestEdits(old: readonly string[], now: readonly string[]) {
  const parts = diffArrays([...old], [...now], { maxEditLength: maxDiffLineEdits })
  if (parts === undefined) return undefined
  const map = new Map<number, number>()
  let [from, to] = [0, 0]
  for (const { added, removed, count } of parts)
    if (added) to += count
    else if (removed) from += count
    else for (let at = 0; at < count; at++) map.set(from++, to++)
  return map
}

function matchLinesByUniqueContent(old: readonly string[], now: readonly string[]) {
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
