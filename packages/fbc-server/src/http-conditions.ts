// Evaluates conditional requests in the order of RFC 9110 (13.2.2), like Go's net/http, which catalogd uses.

export interface HttpConditions {
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly ifModifiedSince?: string | undefined
  readonly ifUnmodifiedSince?: string | undefined
}

/** `etag` includes the quotes; `modified` is in milliseconds. */
export interface HttpRepresentation {
  readonly etag: string
  readonly modified: number
}

export function evaluateConditions(
  conditions: HttpConditions,
  { etag, modified }: HttpRepresentation,
): 200 | 304 | 412 {
  // HTTP dates have no fractions of a second.
  const changed = Math.floor(modified / 1000) * 1000
  if (conditions.ifMatch !== undefined && conditions.ifMatch !== '') {
    if (!matchesEtag(conditions.ifMatch, etag, false)) return 412
  } else {
    const limit = parseHttpDate(conditions.ifUnmodifiedSince)
    if (limit !== undefined && changed > limit) return 412
  }
  if (conditions.ifNoneMatch !== undefined && conditions.ifNoneMatch !== '')
    return matchesEtag(conditions.ifNoneMatch, etag, true) ? 304 : 200
  const since = parseHttpDate(conditions.ifModifiedSince)
  return since !== undefined && changed <= since ? 304 : 200
}

const etagPattern = /^\s*,*\s*(?<weak>W\/)?(?<opaque>"[\x21\x23-\x7e\x80-\uffff]*")/

/** Returns whether a list of entity tags contains this one. `*` matches any; weak tags match only if `weakly`. */
function matchesEtag(list: string, etag: string, weakly: boolean): boolean {
  for (let rest = list; ;) {
    if (/^[\s,]*\*/.test(rest)) return true
    const found = etagPattern.exec(rest)
    if (!found?.groups) return false
    if (found.groups['opaque'] === etag && (weakly || found.groups['weak'] === undefined)) return true
    rest = rest.slice(found[0].length)
  }
}

const httpDatePatterns = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d [A-Z]{3}$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
]

/** Accepts the three date forms of HTTP and returns undefined for anything else, which is then ignored. */
function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined || !httpDatePatterns.some((form) => form.test(text))) return undefined
  const time = Date.parse(/GMT|UTC/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : time
}
