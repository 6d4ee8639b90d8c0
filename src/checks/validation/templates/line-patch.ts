// Unified diffs for `git apply`. Stops early if the files differ in many lines.

import { findShortestEdits, type LineEdit } from '@catalog-bot/findings/lines'

export interface LinePatchLimits {
  /** Removed plus added lines. */
  readonly edits: number
  readonly characters: number
}

const patchContextLineCount = 3

/** Undefined if the files are equal, lack a final line break, or exceed the limits. */
export function createLinePatch(
  path: string,
  before: string,
  after: string,
  limits: LinePatchLimits,
): string | undefined {
  if (before === after || !before.endsWith('\n') || !after.endsWith('\n')) return undefined
  const old = before.slice(0, -1).split('\n')
  const now = after.slice(0, -1).split('\n')
  const edits = findShortestEdits(old, now, limits.edits)
  if (!edits) return undefined
  const hunks = groupAdjacentLineEdits(edits).map((group) => formatHunk(group, old, now))
  const patch = [`--- a/${path}`, `+++ b/${path}`, ...hunks].join('\n') + '\n'
  return patch.length <= limits.characters ? patch : undefined
}

/** Groups edits whose context lines would touch. */
function groupAdjacentLineEdits(edits: readonly LineEdit[]): readonly (readonly LineEdit[])[] {
  const all: LineEdit[][] = []
  for (const edit of edits) {
    const last = all.at(-1)?.at(-1)
    if (last && edit.old - last.old <= 2 * patchContextLineCount + 1) all.at(-1)?.push(edit)
    else all.push([edit])
  }
  return all
}

function formatHunk(edits: readonly LineEdit[], old: readonly string[], now: readonly string[]): string {
  const [first, last] = [edits[0], edits.at(-1)]
  if (!first || !last) return ''
  const start = Math.max(0, first.old - patchContextLineCount)
  const end = Math.min(old.length, last.old + (last.kind === '-' ? 1 : 0) + patchContextLineCount)
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
