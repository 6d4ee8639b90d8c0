// A rule: one sentence inside a check. It owns its id, its default severity and its words;
// a finding is made from it, so no renderer ever invents a sentence.
import type { Finding, Location, Severity, Words } from './finding.ts'

/** The gates GitHub shows; a rule belongs to exactly one. */
export type CheckId = 'ownership' | 'validation' | 'images' | 'install'

export interface Rule<Data = never> {
  /** Named by the bad pattern, in kebab-case, so that "allow two-heads" reads well. */
  readonly id: string
  readonly check: CheckId
  readonly severity: Severity
  /** One sentence, without a full stop: what the rule demands. */
  readonly title: string
  say(data: Data): Words
}

/** A rule whose `data` type is not looked at: for lists of all rules (pages, switches, tests). */
export type AnyRule = Omit<Rule, 'say'>

/** Makes a finding of `rule` at a place (or of the whole, where `at` is undefined). */
export function finding<Data extends object>(
  rule: Rule<Data>,
  at: Location | undefined,
  data: Data,
  related?: Finding['related'],
): Finding {
  const { what, why, fix } = rule.say(data)
  return {
    rule: rule.id,
    severity: rule.severity,
    what: shortened(what),
    why: shortened(why),
    fix: shortened(fix),
    ...(at && { at }),
    ...(related && related.length > 0 && { related }),
    data: data as Readonly<Record<string, unknown>>,
  }
}

/**
 * What a finding is about, for comparing findings of two states of a catalog: names from the outermost on, of any
 * characters. No lines and no counts belong here, which change without the complaint.
 */
export function subjectOf(names: readonly string[]): string {
  return names.map((name) => encodeURIComponent(name.toWellFormed())).join('/')
}

/** A name can be as long as a file; nobody reads more of it than this, and every page would carry it all. */
const longestWords = 5000

function shortened(words: string): string {
  return words.length <= longestWords ? words : `${words.slice(0, longestWords).toWellFormed()}…`
}
