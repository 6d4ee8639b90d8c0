// Go's filepath.Match: the pattern language of one path segment in .indexignore. Not git's, not minimatch's. Matching is
// for other languages, too: they make the same pieces of their patterns.

export type GlobPiece =
  | { readonly kind: 'star' }
  | { readonly kind: 'any' }
  | { readonly kind: 'one'; readonly character: string }
  | {
      readonly kind: 'set'
      readonly negated: boolean
      readonly ranges: readonly (readonly [number, number])[]
    }

export interface Glob {
  readonly pieces: readonly GlobPiece[]
}

/** A byte of an ignore file that is no UTF-8, as ignoreFileText() has it. */
function isBadByte(point: number): boolean {
  return point >= 0xdc80 && point <= 0xdcff
}

/** The pattern, or undefined where it is malformed (then it matches nothing). */
export function parseGlob(pattern: string): Glob | undefined {
  const characters = [...pattern]
  const pieces: GlobPiece[] = []
  let at = 0
  /** A character of a set, maybe escaped; undefined where the set is malformed there. */
  const setCharacter = (): number | undefined => {
    let character = characters[at]
    if (character === undefined || character === '-' || character === ']') return undefined
    if (character === '\\') character = characters[++at]
    at++
    const point = character?.codePointAt(0)
    // A set must go on behind each of its characters, and what is no UTF-8 is none.
    return at < characters.length && point !== undefined && !isBadByte(point) ? point : undefined
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
        const low = setCharacter()
        if (low === undefined) return undefined
        let high: number | undefined = low
        if (characters[at] === '-') {
          at++
          high = setCharacter()
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

/** Whether the whole name matches. Linear in practice, the product of both lengths at worst. */
export function matchesGlob({ pieces }: Glob, name: string): boolean {
  const characters = [...name]
  let piece = 0
  let at = 0
  // Where to go on if what follows the last star does not fit: with the star one character longer.
  let starPiece = -1
  let starAt = 0
  while (at < characters.length) {
    const next = pieces[piece]
    if (next?.kind === 'star') {
      starPiece = piece++
      starAt = at
    } else if (next && fits(next, characters[at] as string)) {
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

function fits(piece: GlobPiece, character: string): boolean {
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
