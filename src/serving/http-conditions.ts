// Conditional requests, as RFC 9110 (13.2.2) orders them and Go's net/http (so catalogd) answers them. Pure.

export interface Conditions {
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly ifModifiedSince?: string | undefined
  readonly ifUnmodifiedSince?: string | undefined
}

/** What there is: its entity tag (quotes included), and when it changed, in milliseconds. */
export interface Representation {
  readonly etag: string
  readonly modified: number
}

/** Whether a GET or HEAD is answered with the content, told that it is still the same, or refused. */
export function judgeConditions(asked: Conditions, { etag, modified }: Representation): 200 | 304 | 412 {
  // HTTP's dates have no fractions.
  const changed = Math.floor(modified / 1000) * 1000
  if (asked.ifMatch !== undefined && asked.ifMatch !== '') {
    if (!names(asked.ifMatch, etag, false)) return 412
  } else {
    const limit = parseDate(asked.ifUnmodifiedSince)
    if (limit !== undefined && changed > limit) return 412
  }
  if (asked.ifNoneMatch !== undefined && asked.ifNoneMatch !== '')
    return names(asked.ifNoneMatch, etag, true) ? 304 : 200
  const since = parseDate(asked.ifModifiedSince)
  return since !== undefined && changed <= since ? 304 : 200
}

const tag = /^\s*,*\s*(?<weak>W\/)?(?<opaque>"[\x21\x23-\x7e\x80-\uffff]*")/

/** Whether a list of entity tags names this one; `*` names any. A weak one counts only where it may. */
function names(list: string, etag: string, weakly: boolean): boolean {
  for (let rest = list; ;) {
    if (/^[\s,]*\*/.test(rest)) return true
    const found = tag.exec(rest)
    if (!found?.groups) return false
    if (found.groups['opaque'] === etag && (weakly || found.groups['weak'] === undefined)) return true
    rest = rest.slice(found[0].length)
  }
}

const dateForms = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d [A-Z]{3}$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
]

/** One of the three forms that HTTP knows; undefined for all else, which counts as not said. */
function parseDate(text: string | undefined): number | undefined {
  if (text === undefined || !dateForms.some((form) => form.test(text))) return undefined
  const time = Date.parse(/GMT|UTC/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : time
}
