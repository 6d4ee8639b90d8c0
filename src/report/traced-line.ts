// Maps lines of the merge result, which GitHub never shows, to lines of the head, or of the base if the head lacks the
// line.
import type { Finding, SuggestedFix } from '@catalog-bot/findings/finding'

export interface TracedFindingLine {
  readonly file: string
  /** In the merge result. */
  readonly line: number
  readonly side: 'head' | 'base'
  /** Line numbers in that commit. */
  readonly first: number
  readonly last: number
}

export interface SuggestedFixForFinding {
  /** See toFindingIdentityKey(). */
  readonly finding: string
  readonly fix: SuggestedFix
  /** The lines of the head to replace, all within the diff of the pull request. */
  readonly suggestion?: { readonly first: number; readonly last: number }
}

export function toFindingIdentityKey({ rule, at, what }: Finding): string {
  return JSON.stringify([rule, at?.file, at?.line, at?.column, what])
}

export function createTracedLineLookup(
  lines: readonly TracedFindingLine[] | undefined,
): (file: string, line: number) => TracedFindingLine | undefined {
  const known = new Map(lines?.map((traced) => [`${traced.line} ${traced.file}`, traced]))
  return (file, line) => known.get(`${line} ${file}`)
}
