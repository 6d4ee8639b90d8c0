// Selects the files in a tree that belong to the catalog: all files that are not ignored, regardless of their
// names. `.indexignore` has the patterns of gitignore.
import { trimSpaceLikeGo, comparePathsInWalkOrder } from '../go/text.ts'
import { getUtf8CharacterLength, decodeUtf8LikeGo, decodeUtf8Strictly } from '../go/utf8.ts'

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

// .indexignore resembles .gitignore, but opm never prunes directories, and the last file in walk order wins.
const ignoreFileName = '.indexignore'

/** `path` is the directory of the file, '' for the root. */
interface IgnoreFile {
  readonly directory: string
  readonly text: string
}

interface IgnorePattern {
  readonly domain: readonly string[]
  readonly includes: boolean
  readonly directoryOnly: boolean
  /**
   * True if the pattern is anchored and matched by segment. Otherwise, it is one segment that can match any path
   * component.
   */
  readonly isPath: boolean
  readonly segments: readonly IgnorePatternSegment[]
}

interface IgnorePatternSegment {
  readonly text: string
  readonly glob: Glob | undefined
}

/** Go's bufio.Scanner rejects lines of this many bytes. */
const maxIgnoreFileLineBytes = 65_536

/** `files` must be in walk order. */
class IgnoreRules {
  private readonly patterns: readonly IgnorePattern[]

  constructor(files: Iterable<IgnoreFile>) {
    this.patterns = [...files].flatMap(parseIgnorePatterns)
  }

  /** The last matching pattern decides. */
  ignores(path: string): boolean {
    if (this.patterns.length === 0) return false
    const components = path.split('/')
    const decisive = this.patterns.findLast((pattern) => matchesIgnorePattern(pattern, components))
    return decisive !== undefined && !decisive.includes
  }
}

export interface CatalogFileSelection {
  /** Relative to the catalog's root, in walk order. */
  readonly files: readonly string[]
  /** opm's error for an unreadable ignore file. In this case, opm does not read any file. */
  readonly loadError?: { readonly file: string; readonly message: string }
}

/** At any depth. */
export function isIgnoreFile(path: string): boolean {
  return path === ignoreFileName || path.endsWith(`/${ignoreFileName}`)
}

/** `files` is the content of a tree by path. */
export function selectCatalogFilesInTree(files: ReadonlyMap<string, Uint8Array>): CatalogFileSelection {
  const ignoreFiles = [...files].filter(([path]) => isIgnoreFile(path))
  return selectCatalogFiles(
    files.keys(),
    new Map(ignoreFiles.map(([path, bytes]) => [path, decodeIgnoreFile(bytes)])),
  )
}

/** `paths` are relative to the catalog's root and use `/`. `ignoreFiles` has the text of each .indexignore by path. */
export function selectCatalogFiles(
  paths: Iterable<string>,
  ignoreFiles: ReadonlyMap<string, string>,
): CatalogFileSelection {
  const walked = [...paths].sort(comparePathsInWalkOrder)
  const found: IgnoreFile[] = []
  for (const file of walked) {
    const text = isIgnoreFile(file) ? ignoreFiles.get(file) : undefined
    if (text === undefined) continue
    const message = findIgnoreFileError(text)
    if (message !== undefined) return { files: [], loadError: { file, message } }
    found.push({ directory: file.slice(0, Math.max(file.length - ignoreFileName.length - 1, 0)), text })
  }
  const rules = new IgnoreRules(found)
  return { files: walked.filter((path) => !isIgnoreFile(path) && !rules.ignores(path)) }
}

/** Returns opm's error for an ignore file that it can't read. */
function findIgnoreFileError(text: string): string | undefined {
  const encoder = new TextEncoder()
  for (const line of text.split('\n')) {
    // A UTF-16 code unit is at most three bytes, so shorter lines don't have to be encoded.
    if (line.length * 3 >= maxIgnoreFileLineBytes && encoder.encode(line).length >= maxIgnoreFileLineBytes) {
      return 'bufio.Scanner: token too long'
    }
  }
  return undefined
}

/** Keeps the byte order mark. Invalid UTF-8 becomes a lone surrogate, which matches no file name. */
export function decodeIgnoreFile(bytes: Uint8Array): string {
  const whole = decodeUtf8Strictly(bytes)
  if (whole !== undefined) return whole
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const width = getUtf8CharacterLength(bytes, at)
    if (width === 0) text += String.fromCharCode(0xdc00 + (bytes[at] as number))
    else text += decodeUtf8LikeGo(bytes.subarray(at, at + width))
    at += Math.max(width, 1)
  }
  return text
}

function parseIgnorePatterns({ directory, text }: IgnoreFile): IgnorePattern[] {
  const domain = directory === '' ? [] : directory.split('/')
  const lines = text
    .split('\n')
    .map(trimSpaceLikeGo)
    .filter((line) => line !== '' && !line.startsWith('#'))
  // The last matching pattern decides, so only the last of equal patterns can matter.
  return [...new Set(lines.reverse())].reverse().map((line) => parseIgnorePattern(line, domain))
}

function parseIgnorePattern(line: string, domain: readonly string[]): IgnorePattern {
  const includes = line.startsWith('!')
  const directoryOnly = line.endsWith('/')
  const rest = line.slice(includes ? 1 : 0, directoryOnly ? -1 : undefined)
  const segments = rest.split('/').map((text) => ({ text, glob: parseGlob(text) }))
  return { domain, includes, directoryOnly, isPath: segments.length > 1, segments }
}

function matchesIgnorePattern(pattern: IgnorePattern, path: readonly string[]): boolean {
  const { domain } = pattern
  if (path.length <= domain.length || domain.some((component, at) => component !== path[at])) return false
  const below = path.slice(domain.length)
  return pattern.isPath ? matchesPatternFromRoot(pattern, below) : matchesPatternAtAnyDepth(pattern, below)
}

function matchesPatternAtAnyDepth(
  { segments, directoryOnly }: IgnorePattern,
  path: readonly string[],
): boolean {
  const glob = segments[0]?.glob
  if (!glob) return false
  const found = path.findIndex((component) => matchesGlob(glob, component))
  return found >= 0 && !(directoryOnly && found === path.length - 1)
}

/** Matches from the domain's root; the rest of the path is free. */
function matchesPatternFromRoot(
  { segments, directoryOnly }: IgnorePattern,
  path: readonly string[],
): boolean {
  let matched = false
  let skipsAhead = false
  let at = 0
  for (const [index, { text, glob }] of segments.entries()) {
    if (text === '') {
      skipsAhead = false
      continue
    }
    if (text === '**') {
      if (index === segments.length - 1) break
      skipsAhead = true
      continue
    }
    if (text.includes('**') || at >= path.length || !glob) return false
    if (skipsAhead) {
      // The first hit counts; opm doesn't backtrack.
      skipsAhead = false
      matched = false
      while (at < path.length && !matched) matched = matchesGlob(glob, path[at++] as string)
    } else {
      if (!matchesGlob(glob, path[at++] as string)) return false
      matched = true
    }
  }
  return matched && !(directoryOnly && at >= path.length)
}

/** An invalid byte of an ignore file, as decodeIgnoreFile() represents it. */
function isSurrogateEscapedByte(point: number): boolean {
  return point >= 0xdc80 && point <= 0xdcff
}

// Go's filepath.Match, for path segments in .indexignore. Matchers for other pattern languages produce the same pieces.

/** Returns undefined for a malformed pattern, which matches nothing. */
function parseGlob(pattern: string): Glob | undefined {
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
    return at < characters.length && point !== undefined && !isSurrogateEscapedByte(point) ? point : undefined
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
