// A finding: one complaint about one place, in words an author can act on.
// Findings are values; nothing here throws, prints or decides.

export type Severity = 'error' | 'warning' | 'info'

/** A place in a file. Lines and columns count from 1; columns count UTF-16 code units, as editors and GitHub do. */
export interface Location {
  /** Path from the repository's (or the validated directory's) root, with `/`. */
  readonly file: string
  readonly line: number
  readonly column: number
  readonly endLine?: number
  readonly endColumn?: number
  /** What is meant where a mapping and its first key begin at the same place: the key. Absent where an end is known. */
  readonly extent?: 'key'
}

/** The three answers every finding owes its reader. Plain text: each renderer escapes it for its medium. */
export interface FindingText {
  /** What is wrong, naming the object: `channel "stable" has two heads: a, b`. */
  readonly what: string
  /** Why it matters to those who install Operators. Empty only where `what` says it all. */
  readonly why: string
  /** What to do about it. */
  readonly fix: string
}

export interface Finding extends FindingText {
  /** The rule's id, e.g. `two-heads`; its page is `docs/rules/<id>.md`. Ids are never reused. */
  readonly rule: string
  readonly severity: Severity
  /**
   * What the complaint is about, without lines, counts or wording: `foo/stable/foo.v1`. Two findings of one rule
   * with the same subject are the same complaint in two states of the catalog.
   */
  readonly subject?: string
  /** Absent when the complaint is about the whole (an empty catalog, a missing approval). */
  readonly at?: Location
  readonly related?: readonly { readonly at: Location; readonly note: string }[]
  /** A maintainer let it pass: who, and why in their own words, which every renderer escapes. */
  readonly overridden?: { readonly by: string; readonly reason: string }
  /** Facts behind the words, for machines and tests. */
  readonly data?: Readonly<Record<string, unknown>>
}

/**
 * Orders findings by file, line, column, rule and words, so the same catalog always prints the same page.
 * Findings without a place come first. Text is compared by code unit, never by locale.
 */
export function compareFindings(a: Finding, b: Finding): number {
  return compareLocations(a.at, b.at) || compareText(a.rule, b.rule) || compareText(a.what, b.what)
}

/** The order of findings as far as their places tell it. */
export function compareLocations(a: Location | undefined, b: Location | undefined): number {
  return (
    compareText(a?.file ?? '', b?.file ?? '') ||
    (a?.line ?? 0) - (b?.line ?? 0) ||
    (a?.column ?? 0) - (b?.column ?? 0)
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
