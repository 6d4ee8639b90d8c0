// Where a line of the merge result stands in a commit that people can open. Findings are about the result, which GitHub
// never shows: their lines are told by the head's numbers, or by the base's where the head has no such line.
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

/** The fix of one finding, and where GitHub takes it as a suggestion. */
export interface ToldFix {
  /** See findingKey(). */
  readonly finding: string
  readonly fix: Fix
  /** The lines of the head that a suggestion would replace: all of them are in the pull request's diff. */
  readonly suggestion?: { readonly first: number; readonly last: number }
}

/** What tells one finding of a verdict from the others. */
export function findingKey({ rule, at, what }: Finding): string {
  return JSON.stringify([rule, at?.file, at?.line, at?.column, what])
}

/** The traced lines by file and line of the result. */
export function tracedBy(
  lines: readonly TracedLine[] | undefined,
): (file: string, line: number) => TracedLine | undefined {
  const known = new Map(lines?.map((traced) => [`${traced.line} ${traced.file}`, traced]))
  return (file, line) => known.get(`${line} ${file}`)
}
