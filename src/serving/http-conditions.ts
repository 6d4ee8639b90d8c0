// Evaluates conditional requests in the order of RFC 9110 (13.2.2), like Go's net/http, which catalogd uses.

export interface Conditions {
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly ifModifiedSince?: string | undefined
  readonly ifUnmodifiedSince?: string | undefined
}

/** `etag` includes the quotes; `modified` is in milliseconds. */
export interface Representation {
  readonly etag: string
  readonly modified: number
}

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

/** Returns whether a list of entity tags contains this one. `*` matches any; weak tags match only if `weakly`. */
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

/** Accepts the three date forms of HTTP and returns undefined for anything else, which is then ignored. */
function parseDate(text: string | undefined): number | undefined {
  if (text === undefined || !dateForms.some((form) => form.test(text))) return undefined
  const time = Date.parse(/GMT|UTC/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : time
}
