// Go's filepath.Match, for path segments in .indexignore. Matchers for other pattern languages produce the same pieces.

export type GlobToken =
  | { readonly kind: 'star' }
  | { readonly kind: 'any' }
  | { readonly kind: 'one'; readonly character: string }
  | {
      readonly kind: 'set'
      readonly negated: boolean
      readonly ranges: readonly (readonly [number, number])[]
    }

export interface Glob {
  readonly pieces: readonly GlobToken[]
}

/** An invalid byte of an ignore file, as decodeIgnoreFile() represents it. */
function isInvalidByteCodePoint(point: number): boolean {
  return point >= 0xdc80 && point <= 0xdcff
}

/** Returns undefined for a malformed pattern, which matches nothing. */
export function parseGlob(pattern: string): Glob | undefined {
  const characters = [...pattern]
  const pieces: GlobToken[] = []
  let at = 0
  /** Reads a possibly escaped character of a set; returns undefined if the set is malformed. */
  const readSetCharacter = (): number | undefined => {
    let character = characters[at]
    if (character === undefined || character === '-' || character === ']') return undefined
    if (character === '\\') character = characters[++at]
    at++
    const point = character?.codePointAt(0)
    // A set must continue after each character, and must not contain invalid UTF-8.
    return at < characters.length && point !== undefined && !isInvalidByteCodePoint(point) ? point : undefined
  }
  while (at < characters.length) {
    const character = characters[at++] as string
    if (character === '*') {
      if (pieces.at(-1)?.kind !== 'star') pieces.push({ kind: 'star' })
    } else if (character === '?') pieces.push({ kind: 'any' })
    else if (character === '\\') {
      const escaped = characters[at++]
      if (escaped === undefined) return undefined
      pieces.push({ kind: 'one', character: escaped })
    } else if (character === '[') {
      const negated = characters[at] === '^'
      if (negated) at++
      const ranges: [number, number][] = []
      while (characters[at] !== ']' || ranges.length === 0) {
        const low = readSetCharacter()
        if (low === undefined) return undefined
        let high: number | undefined = low
        if (characters[at] === '-') {
          at++
          high = readSetCharacter()
          if (high === undefined) return undefined
        }
        ranges.push([low, high])
      }
      at++
      pieces.push({ kind: 'set', negated, ranges })
    } else pieces.push({ kind: 'one', character })
  }
  return { pieces }
}

/** Linear in practice; at worst the product of both lengths. */
export function matchesGlob({ pieces }: Glob, name: string): boolean {
  const characters = [...name]
  let piece = 0
  let at = 0
  // The position to retry from, with one more character for the last star.
  let starPiece = -1
  let starAt = 0
  while (at < characters.length) {
    const next = pieces[piece]
    if (next?.kind === 'star') {
      starPiece = piece++
      starAt = at
    } else if (next && matchesGlobToken(next, characters[at] as string)) {
      piece++
      at++
    } else if (starPiece >= 0) {
      piece = starPiece + 1
      at = ++starAt
    } else return false
  }
  while (pieces[piece]?.kind === 'star') piece++
  return piece === pieces.length
}

function matchesGlobToken(piece: GlobToken, character: string): boolean {
  switch (piece.kind) {
    case 'any':
      return true
    case 'one':
      return piece.character === character
    case 'set': {
      const point = character.codePointAt(0) ?? 0
      return piece.ranges.some(([low, high]) => low <= point && point <= high) !== piece.negated
    }
    case 'star':
      return false
  }
}
