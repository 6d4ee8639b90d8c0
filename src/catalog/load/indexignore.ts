// .indexignore: which files of a catalog's tree opm does not read. Looks like .gitignore, and is not:
// directories are never pruned, and what was read last in walk order decides.
import { matchesGlob, parseGlob } from '../../go/glob.ts'
import type { Glob } from '../../go/glob.ts'
import { trimSpace } from '../../go/text.ts'
import { characterWidth, decodeLikeGo, decodeStrictly } from '../../go/utf8.ts'

export const ignoreFileName = '.indexignore'

/** One .indexignore: the path of its directory ('' for the root) and its text. */
export interface IgnoreFile {
  readonly directory: string
  readonly text: string
}

interface Pattern {
  readonly domain: readonly string[]
  readonly includes: boolean
  readonly directoryOnly: boolean
  /** Anchored to the domain and matched segment by segment; otherwise one segment that any component may match. */
  readonly isPath: boolean
  readonly segments: readonly Segment[]
}

interface Segment {
  readonly text: string
  readonly glob: Glob | undefined
}

/** Go's bufio.Scanner reads no line of this many bytes. */
const maxLine = 65_536

/** opm's error for an ignore file that it cannot read, or undefined. */
export function ignoreFileError(text: string): string | undefined {
  const encoder = new TextEncoder()
  for (const line of text.split('\n')) {
    // Only a line of many characters can be one of many bytes.
    if (line.length * 3 >= maxLine && encoder.encode(line).length >= maxLine) {
      return 'bufio.Scanner: token too long'
    }
  }
  return undefined
}

/**
 * An ignore file's text; a byte order mark belongs to it. A byte that is no UTF-8 becomes a lone surrogate, which
 * equals no character of a file's name.
 */
export function ignoreFileText(bytes: Uint8Array): string {
  const whole = decodeStrictly(bytes)
  if (whole !== undefined) return whole
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const width = characterWidth(bytes, at)
    if (width === 0) text += String.fromCharCode(0xdc00 + (bytes[at] as number))
    else text += decodeLikeGo(bytes.subarray(at, at + width))
    at += Math.max(width, 1)
  }
  return text
}

/** All patterns of a tree. `files` must come in walk order. */
export class IgnoreRules {
  private readonly patterns: readonly Pattern[]

  constructor(files: Iterable<IgnoreFile>) {
    this.patterns = [...files].flatMap(parsePatterns)
  }

  /** Whether opm leaves the file at `path` unread: the last pattern that matches decides. */
  ignores(path: string): boolean {
    if (this.patterns.length === 0) return false
    const components = path.split('/')
    const decisive = this.patterns.findLast((pattern) => matches(pattern, components))
    return decisive !== undefined && !decisive.includes
  }
}

function parsePatterns({ directory, text }: IgnoreFile): Pattern[] {
  const domain = directory === '' ? [] : directory.split('/')
  const lines = text
    .split('\n')
    .map(trimSpace)
    .filter((line) => line !== '' && !line.startsWith('#'))
  // The last pattern that matches decides, so of equal ones only the last can.
  return [...new Set(lines.reverse())].reverse().map((line) => parsePattern(line, domain))
}

function parsePattern(line: string, domain: readonly string[]): Pattern {
  const includes = line.startsWith('!')
  let rest = includes ? line.slice(1) : line
  if (!rest.endsWith('\\ ')) rest = rest.replace(/ +$/, '')
  const directoryOnly = rest.endsWith('/')
  if (directoryOnly) rest = rest.slice(0, -1)
  const segments = rest.split('/').map((text) => ({ text, glob: parseGlob(text) }))
  return { domain, includes, directoryOnly, isPath: segments.length > 1, segments }
}

function matches(pattern: Pattern, path: readonly string[]): boolean {
  const { domain } = pattern
  if (path.length <= domain.length || domain.some((component, at) => component !== path[at])) return false
  const below = path.slice(domain.length)
  return pattern.isPath ? matchesPath(pattern, below) : matchesAnyComponent(pattern, below)
}

function matchesAnyComponent({ segments, directoryOnly }: Pattern, path: readonly string[]): boolean {
  const glob = segments[0]?.glob
  if (!glob) return false
  const found = path.findIndex((component) => matchesGlob(glob, component))
  return found >= 0 && !(directoryOnly && found === path.length - 1)
}

/** Matches from the domain's root on; what remains of the path is free. */
function matchesPath({ segments, directoryOnly }: Pattern, path: readonly string[]): boolean {
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
      // The first hit counts; there is no second try.
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
