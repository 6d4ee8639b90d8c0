// Parses WWW-Authenticate headers (RFC 9110, section 11), including several challenges per header and quoted strings.

export interface Challenge {
  readonly scheme: string
  /** Names are in lower case. For duplicate names, the first one counts. */
  readonly parameters: ReadonlyMap<string, string>
}

// No registry sends a longer challenge. Node limits all headers together to 16 KiB.
const maxHeaderLength = 8192

const tokenPattern = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const token68Pattern = /[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|$))/y
const whitespacePattern = /[ \t]*/y
const separatorPattern = /[ \t,]*/y

/** Every challenge in order. Parsing stops silently at the first syntax error of a header. */
export function parseChallenges(headers: readonly string[]): readonly Challenge[] {
  return headers.flatMap((header) => (header.length > maxHeaderLength ? [] : parseChallengeHeader(header)))
}

function parseChallengeHeader(header: string): Challenge[] {
  const challenges: Challenge[] = []
  let at = 0
  const takeMatch = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const text = pattern.exec(header)?.[0] ?? ''
    at += text.length
    return text
  }
  takeMatch(separatorPattern)
  while (at < header.length) {
    const scheme = takeMatch(tokenPattern)
    if (scheme === '') break
    const parameters = new Map<string, string>()
    takeMatch(whitespacePattern)
    // A token68 (Negotiate, Basic) has no parameters; an auth-param always has "=" and a value.
    const parameterAhead = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=[ \t]*[^=,\s]/y
    parameterAhead.lastIndex = at
    if (!parameterAhead.test(header)) takeMatch(token68Pattern)
    for (;;) {
      const before = at
      takeMatch(separatorPattern)
      const name = takeMatch(tokenPattern).toLowerCase()
      takeMatch(whitespacePattern)
      if (name === '' || header[at] !== '=') {
        // Not a parameter, so the next challenge starts here.
        at = before
        break
      }
      at += 1
      takeMatch(whitespacePattern)
      const value = header[at] === '"' ? takeQuoted() : takeMatch(tokenPattern)
      if (value === undefined) return challenges
      if (!parameters.has(name)) parameters.set(name, value)
    }
    challenges.push({ scheme: scheme.toLowerCase(), parameters })
    const before = at
    takeMatch(separatorPattern)
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
