// .indexignore resembles .gitignore, but opm never prunes directories, and the last file in walk order wins.
import { matchesGlob, parseGlob } from '../go/glob.ts'
import type { Glob } from '../go/glob.ts'
import { trimSpaceLikeGo } from '../go/text.ts'
import { getUtf8CharacterLength, decodeUtf8LikeGo, decodeUtf8Strictly } from '../go/utf8.ts'

export const ignoreFileName = '.indexignore'

/** `path` is the directory of the file, '' for the root. */
export interface IgnoreFile {
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

/** Returns opm's error for an ignore file that it can't read. */
export function findIgnoreFileError(text: string): string | undefined {
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

/** `files` must be in walk order. */
export class IgnoreRules {
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
  let rest = includes ? line.slice(1) : line
  if (!rest.endsWith('\\ ')) rest = rest.replace(/ +$/, '')
  const directoryOnly = rest.endsWith('/')
  if (directoryOnly) rest = rest.slice(0, -1)
  const segments = rest.split('/').map((text) => ({ text, glob: parseGlob(text) }))
  return { domain, includes, directoryOnly, isPath: segments.length > 1, segments }
}

function matchesIgnorePattern(pattern: IgnorePattern, path: readonly string[]): boolean {
  const { domain } = pattern
  if (path.length <= domain.length || domain.some((component, at) => component !== path[at])) return false
  const below = path.slice(domain.length)
  return pattern.isPath ? matchesPath(pattern, below) : matchesAnyPathSegment(pattern, below)
}

function matchesAnyPathSegment({ segments, directoryOnly }: IgnorePattern, path: readonly string[]): boolean {
  const glob = segments[0]?.glob
  if (!glob) return false
  const found = path.findIndex((component) => matchesGlob(glob, component))
  return found >= 0 && !(directoryOnly && found === path.length - 1)
}

/** Matches from the domain's root; the rest of the path is free. */
function matchesPath({ segments, directoryOnly }: IgnorePattern, path: readonly string[]): boolean {
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
