// Parses WWW-Authenticate (RFC 9110, section 11): several challenges per header, several headers, quoted strings.

export interface Challenge {
  readonly scheme: string
  /** Names in lower case; the first of duplicate names counts. */
  readonly parameters: ReadonlyMap<string, string>
}

// Registries need no longer challenge. Node limits all headers together to 16 KiB.
const longestHeader = 8192

const token = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const token68 = /[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|$))/y
const blanks = /[ \t]*/y
const separators = /[ \t,]*/y

/** Every challenge in order. Parsing stops silently at the first syntax error of a header. */
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
    // A token68 (Negotiate, Basic) has no parameters; an auth-param always has "=" and a value.
    const parameterAhead = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=[ \t]*[^=,\s]/y
    parameterAhead.lastIndex = at
    if (!parameterAhead.test(header)) take(token68)
    for (;;) {
      const before = at
      take(separators)
      const name = take(token).toLowerCase()
      take(blanks)
      if (name === '' || header[at] !== '=') {
        // Not a parameter, so the next challenge starts here.
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
