// Maps lines of the merge result, which GitHub never shows, to lines of the head, or of the base where the head has no
// such line.
import type { Fix } from '../findings/fix.ts'
import type { Finding } from '../findings/finding.ts'

export interface TracedLine {
  readonly file: string
  /** In the merge result. */
  readonly line: number
  readonly side: 'head' | 'base'
  /** In that commit; `last` where the place ends there, too. */
  readonly first: number
  readonly last: number
}

export interface FixView {
  /** See findingKey(). */
  readonly finding: string
  readonly fix: Fix
  /** The head's lines to replace, all within the pull request's diff. */
  readonly suggestion?: { readonly first: number; readonly last: number }
}

export function getFindingKey({ rule, at, what }: Finding): string {
  return JSON.stringify([rule, at?.file, at?.line, at?.column, what])
}

export function createTracedLineLookup(
  lines: readonly TracedLine[] | undefined,
): (file: string, line: number) => TracedLine | undefined {
  const known = new Map(lines?.map((traced) => [`${traced.line} ${traced.file}`, traced]))
  return (file, line) => known.get(`${line} ${file}`)
}
