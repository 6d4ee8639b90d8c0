// WWW-Authenticate by RFC 9110, section 11: several challenges in one header, several headers, quoted strings
// with escapes, commas inside them. Parses; never decides what to answer.

export interface Challenge {
  /** Lower case: `bearer`, `basic`, `negotiate`. */
  readonly scheme: string
  /** Names in lower case; of a name written twice the first counts. */
  readonly parameters: ReadonlyMap<string, string>
}

// Longer headers are no challenge that a registry needs (Node's own limit for all headers is 16 KiB).
const longestHeader = 8192

const token = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const token68 = /[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|$))/y
const blanks = /[ \t]*/y
const separators = /[ \t,]*/y

/** Every challenge of the given header values, in order. What cannot be parsed ends its header, silently. */
export function parseChallenges(headers: readonly string[]): readonly Challenge[] {
  return headers.flatMap((header) => (header.length > longestHeader ? [] : parseHeader(header)))
}

function parseHeader(header: string): Challenge[] {
  const challenges: Challenge[] = []
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const text = pattern.exec(header)?.[0] ?? ''
    at += text.length
    return text
  }
  take(separators)
  while (at < header.length) {
    const scheme = take(token)
    if (scheme === '') break
    const parameters = new Map<string, string>()
    take(blanks)
    // A token68 (Negotiate's and Basic's blobs) stands alone; an auth-param always has its "=" followed by a value.
    const parameterAhead = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=[ \t]*[^=,\s]/y
    parameterAhead.lastIndex = at
    if (!parameterAhead.test(header)) take(token68)
    for (;;) {
      const before = at
      take(separators)
      const name = take(token).toLowerCase()
      take(blanks)
      if (name === '' || header[at] !== '=') {
        // No parameter: the next challenge's scheme (or rubbish) begins here.
        at = before
        break
      }
      at += 1
      take(blanks)
      const value = header[at] === '"' ? takeQuoted() : take(token)
      if (value === undefined) return challenges
      if (!parameters.has(name)) parameters.set(name, value)
    }
    challenges.push({ scheme: scheme.toLowerCase(), parameters })
    const before = at
    take(separators)
    if (at === before && at < header.length) break
  }
  return challenges

  function takeQuoted(): string | undefined {
    let value = ''
    for (at += 1; at < header.length; at += 1) {
      const character = header[at]
      if (character === '"') {
        at += 1
        return value
      }
      if (character === '\\') at += 1
      value += header[at] ?? ''
    }
    return undefined
  }
}
