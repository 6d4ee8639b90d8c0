// The difference of two texts as a unified diff that `git apply` takes. For small differences of long texts: what needs
// many edits is given up early.

export interface PatchLimits {
  /** Lines that go and lines that come, together. */
  readonly edits: number
  /** Characters of the whole patch. */
  readonly characters: number
}

const context = 3

interface Edit {
  /** Line in the old text (for a line that comes: before which) and in the new one, from 0. */
  readonly old: number
  readonly new: number
  readonly kind: '-' | '+'
}

/** Undefined when the texts are equal, do not end in a line break, or differ by more than the limits. */
export function linePatch(
  path: string,
  before: string,
  after: string,
  limits: PatchLimits,
): string | undefined {
  if (before === after || !before.endsWith('\n') || !after.endsWith('\n')) return undefined
  const old = before.slice(0, -1).split('\n')
  const now = after.slice(0, -1).split('\n')
  const edits = shortestEdits(old, now, limits.edits)
  if (!edits) return undefined
  const hunks = groups(edits).map((group) => hunk(group, old, now))
  const patch = [`--- a/${path}`, `+++ b/${path}`, ...hunks].join('\n') + '\n'
  return patch.length <= limits.characters ? patch : undefined
}

/** Myers' greedy algorithm: the fewest lines that go and come, in order. */
function shortestEdits(
  old: readonly string[],
  now: readonly string[],
  most: number,
): readonly Edit[] | undefined {
  const steps: Map<number, number>[] = []
  let reach = new Map<number, number>([[1, 0]])
  for (let count = 0; count <= most; count++) {
    steps.push(reach)
    const next = new Map(reach)
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let x = comesDown(reach, diagonal, count) ? at(reach, diagonal + 1) : at(reach, diagonal - 1) + 1
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++
      next.set(diagonal, x)
      if (x >= old.length && x - diagonal >= now.length) return traced(steps, old.length, now.length)
    }
    reach = next
  }
  return undefined
}

function at(reach: ReadonlyMap<number, number>, diagonal: number): number {
  return reach.get(diagonal) ?? -1
}

function comesDown(reach: ReadonlyMap<number, number>, diagonal: number, count: number): boolean {
  return diagonal === -count || (diagonal !== count && at(reach, diagonal - 1) < at(reach, diagonal + 1))
}

function traced(
  steps: readonly ReadonlyMap<number, number>[],
  oldEnd: number,
  newEnd: number,
): readonly Edit[] {
  const edits: Edit[] = []
  let [x, y] = [oldEnd, newEnd]
  for (let count = steps.length - 1; count > 0; count--) {
    const reach = steps[count] ?? new Map<number, number>()
    const diagonal = x - y
    const down = comesDown(reach, diagonal, count)
    const from = down ? diagonal + 1 : diagonal - 1
    x = at(reach, from)
    y = x - from
    edits.push({ old: x, new: y, kind: down ? '+' : '-' })
  }
  return edits.reverse()
}

/** Edits whose surrounding lines would touch are shown together. */
function groups(edits: readonly Edit[]): readonly (readonly Edit[])[] {
  const all: Edit[][] = []
  for (const edit of edits) {
    const last = all.at(-1)?.at(-1)
    if (last && edit.old - last.old <= 2 * context + 1) all.at(-1)?.push(edit)
    else all.push([edit])
  }
  return all
}

function hunk(edits: readonly Edit[], old: readonly string[], now: readonly string[]): string {
  const [first, last] = [edits[0], edits.at(-1)]
  if (!first || !last) return ''
  const start = Math.max(0, first.old - context)
  const end = Math.min(old.length, last.old + (last.kind === '-' ? 1 : 0) + context)
  const lines: string[] = []
  let line = start
  for (const edit of edits) {
    for (; line < edit.old; line++) lines.push(` ${old[line] ?? ''}`)
    lines.push(edit.kind === '-' ? `-${old[line++] ?? ''}` : `+${now[edit.new] ?? ''}`)
  }
  for (; line < end; line++) lines.push(` ${old[line] ?? ''}`)
  const come = edits.filter(({ kind }) => kind === '+').length
  const go = edits.length - come
  const length = end - start
  const newStart = first.new - (first.old - start)
  return [`@@ -${start + 1},${length} +${newStart + 1},${length - go + come} @@`, ...lines].join('\n')
}
