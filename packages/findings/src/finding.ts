// Findings, their order, and suggested fixes.

export interface SuggestedFix {
  readonly file: string
  /** The lines to remove, starting at 1, both ends included. At least one line. */
  readonly first: number
  readonly last: number
  readonly before: readonly string[]
  /** The replacement lines. */
  readonly after: readonly string[]
}

// A finding: one problem at one location, in words that an author can act on. Plain values.

export type Severity = 'error' | 'warning' | 'info'

/** A location in a file. Lines and columns start at 1. Columns count UTF-16 code units, as in editors and on GitHub. */
export interface Location {
  /** Path relative to the root of the repository or the validated directory, with `/` as separator. */
  readonly file: string
  readonly line: number
  readonly column: number
  readonly endLine?: number
  readonly endColumn?: number
  /** If a mapping and its first key start at the same position, this is the key. Absent if an end is known. */
  readonly extent?: 'key'
}

/** The three sentences of a finding, in plain text. Each renderer escapes them for its format. */
export interface FindingDescription {
  /** The problem and the affected object, such as `channel "stable" has two heads: a, b`. */
  readonly what: string
  /** Why the problem matters to users who install Operators. Empty only if `what` is sufficient. */
  readonly why: string
  /** How to fix the problem. */
  readonly fix: string
}

export interface Finding extends FindingDescription {
  /** ID of the rule, such as `two-heads`. Its page is `docs/rules/<id>.md`. IDs are never reused. */
  readonly rule: string
  readonly severity: Severity
  /**
   * Identifies the affected object without lines, counts, or wording, for example `foo/stable/foo.v1`. Two findings of one
   * rule with the same subject are the same problem in two states of the catalog.
   */
  readonly subject?: string
  /** Absent if the finding is not about one location, such as an empty catalog or a missing approval. */
  readonly at?: Location
  readonly related?: readonly { readonly at: Location; readonly note: string }[]
  /** The base branch has the same problem, so the change under test did not cause it. */
  readonly isOnBase?: true
  /** The maintainer who overrode the finding, and the reason in the maintainer's words. Renderers escape it. */
  readonly overridden?: { readonly by: string; readonly reason: string }
  /** The data behind the text, for machines and tests. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** Equal for the same problem in two states of the catalog. See `subject`. */
export function formatFindingSubjectKey({ rule, subject }: Finding): string {
  return `${rule} ${subject ?? ''}`
}

/**
 * Orders findings by file, line, column, rule, and text, so that the same catalog always results in the same output. Findings
 * without a location come first. Text is compared by code unit, not by locale.
 */
export function compareFindings(a: Finding, b: Finding): number {
  return compareLocations(a.at, b.at) || compareCodeUnits(a.rule, b.rule) || compareCodeUnits(a.what, b.what)
}

/** The order of findings by location only. */
export function compareLocations(a: Location | undefined, b: Location | undefined): number {
  return (
    compareCodeUnits(a?.file ?? '', b?.file ?? '') ||
    (a?.line ?? 0) - (b?.line ?? 0) ||
    (a?.column ?? 0) - (b?.column ?? 0)
  )
}

export function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

// A fix: a change to the lines of one file that resolves a finding. It is created where the text of the file is available.
// Renderers show it, but catalog-bot never applies it.

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
